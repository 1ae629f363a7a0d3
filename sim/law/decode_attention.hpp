#pragma once
// Attention of single queries over a cache of keys and values (docs/explanation/inference.md), as
// FlashDecoding and its kin run it: the keys are split over the compute units, the queries that
// share a key are one tile of at least 16 rows, and a second kernel adds the parts up.
//
//   V        = batch · kv_heads · keys · (d + d_v) · cache bytes + Q, O; V in K: no d_v
//   F        = 2 · batch · kv_heads · max(16, ⌈heads/kv_heads⌉16) · queries · keys · (d + d_v)
//   t        = launches · gap + start + norm6(F / (R · c), V / (BW · stream))
//
// Two launches where batch · kv_heads leaves units idle unless keys are split, one otherwise.

#include "law/attention.hpp"

namespace clustersim {

[[nodiscard]] KernelTime decode_attention_time(const AttentionShape& shape, const Device& device);

} // namespace clustersim
