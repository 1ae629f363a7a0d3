#include "report/fields.hpp"

#include <array>

namespace clustersim {
namespace {

constexpr auto fields = std::to_array<ReportField>({
    {"schema", "", "\"clustersim.inference/1\""},
    {"version", "", "of clustersim"},
    {"title", "", "of the scenario"},
    {"inputs.NAME", "", "as in the report of training"},
    {"assumptions[]", "", "sentences"},
    {"warnings[]", "", "sentences"},
    {"results.time_to_first_token_s", "s", "one prompt alone"},
    {"results.time_to_first_token_batch_s", "s", "all prompts of the batch at once"},
    {"results.time_per_output_token_s", "s", "mean over the output"},
    {"results.time_per_output_token_first_s", "s", "first decode step"},
    {"results.time_per_output_token_last_s", "s", "last decode step"},
    {"results.request_s", "s", "a batch that starts and ends together"},
    {"results.tokens_per_s_user", "1/s", "1 / time_per_output_token_s"},
    {"results.tokens_per_s_decode", "1/s", "all copies, while they decode"},
    {"results.tokens_per_s", "1/s", "output of all copies / request_s"},
    {"results.prompt_tokens_per_s", "1/s", "prompts of all copies, while they prefill"},
    {"results.chips", "", "of the cluster"},
    {"results.params_total", "", "of the model"},
    {"results.params_active", "", "that one token uses"},
    {"results.memory.capacity_bytes", "B", "data sheet"},
    {"results.memory.usable_bytes", "B", "what the driver gives"},
    {"results.memory.reserve_bytes", "B", "the framework's share"},
    {"results.memory.peak_bytes", "B", "sum of the terms, on the fullest stage"},
    {"results.memory.margin_bytes", "B", "usable − reserve − peak"},
    {"results.memory.fits", "", "margin_bytes is not negative"},
    {"results.memory.terms[].name", "", "weights, keys and values, workspace"},
    {"results.memory.terms[].bytes", "B", "on one chip"},
    {"results.memory.terms[].sharded_by", "", "axes that divide it"},
    {"results.memory.cache_per_token_bytes", "B", "of the whole model"},
    {"results.memory.cache_per_sequence_bytes", "B", "on one chip, prompt and output"},
    {"results.memory.largest_batch", "", "sequences of one copy that fit; 0 = none"},
    {"results.decode_floor.bytes", "B", "that a decode step cannot help reading on a chip"},
    {"results.decode_floor.time_s", "s", "bytes at the data sheet's bandwidth"},
    {"results.decode_floor.share", "", "time_s / decode.pass_s"},
    {"results.PHASE.pass_s", "s", "prefill or decode: one micro-batch through all stages"},
    {"results.PHASE.period_s", "s", "until the batch is through"},
    {"results.PHASE.energy_j", "J", "of all nodes, over period_s"},
    {"results.PHASE.time_breakdown.NAME", "s", "sums to pass_s"},
    {"results.PHASE.bottleneck", "", "as in the report of training"},
    {"results.PHASE.operators[]", "", "as in the report of training"},
    {"results.energy.per_output_token_j", "J", "of all nodes, prefill included"},
    {"results.cost.electricity_per_million_output_tokens_usd", "USD",
     "where prices.electricity is given"},
});

} // namespace

std::string reference_inference() {
  std::string out =
      "# Report of a model that serves\n\nWritten by `clustersim reference inference`; a test "
      "fails when it is stale.\n\n`clustersim run CONFIG --json` prints this object for a "
      "scenario with `[inference]`.\n\n| field | unit | meaning |\n|---|---|---|\n";
  return out + table_rows(fields);
}

} // namespace clustersim
