#pragma once
// Before the first and after the last layer: embedding, final norm, vocabulary head and loss.

#include "plan/block_builder.hpp"

namespace clustersim {

[[nodiscard]] Block embedding_forward(const Scenario& scenario, const Shard& shard);
[[nodiscard]] Block embedding_backward(const Scenario& scenario, const Shard& shard,
                                       BackwardPart part);
/// Between an encoder and its decoder: the encoder's last norm, the decoder's embedding.
[[nodiscard]] Block decoder_entry_forward(const Scenario& scenario, const Shard& shard);
[[nodiscard]] Block decoder_entry_backward(const Scenario& scenario, const Shard& shard,
                                           BackwardPart part);
/// Before the layer of a multi-token prediction module (DeepSeek-V3, arXiv 2412.19437, section
/// 2.2): the next token's embedding and the hidden state, each normed, projected to one width.
[[nodiscard]] Block prediction_entry_forward(const Scenario& scenario, const Shard& shard);
[[nodiscard]] Block prediction_entry_backward(const Scenario& scenario, const Shard& shard,
                                              BackwardPart part);
[[nodiscard]] Block head_forward(const Scenario& scenario, const Shard& shard);
[[nodiscard]] Block head_backward(const Scenario& scenario, const Shard& shard, BackwardPart part);

/// Between the width of the tables and that of the model, whole on every rank.
[[nodiscard]] Linear width_projection(const Scenario& scenario, const Shard& shard, bool inward);

} // namespace clustersim
