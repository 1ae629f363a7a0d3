#include "base/text.hpp"
#include "spec/schemas.hpp"

#include <array>
#include <charconv>

namespace clustersim {
namespace {

using K = KernelCalibration;
constexpr double tiny = 1e-4; // shares: above zero, since times are divided by them

template <class G, class M>
auto in(G K::*group, M G::*member) {
  return at(group, member);
}

bool read_tiles(const Given& given, std::vector<Tile>& out) {
  std::vector<Tile> tiles;
  constexpr std::size_t most_tiles = 64;
  constexpr std::int64_t largest = 4096;
  const auto side = [&](const Tree& t) {
    return t.type == TreeType::integer && t.integer >= 1 && t.integer <= largest;
  };
  for (const Tree& item : given.tree.items) {
    if (item.items.size() != 2 || !side(item.items[0]) || !side(item.items[1])) {
      report({item, given.info, given.context}, "not a tile");
      return false;
    }
    tiles.push_back(
        {static_cast<int>(item.items[0].integer), static_cast<int>(item.items[1].integer)});
  }
  if (given.tree.type != TreeType::array || tiles.empty() || tiles.size() > most_tiles) {
    report(given, "not a list of 1 to 64 tiles");
    return false;
  }
  out = std::move(tiles);
  return true;
}

// { 64 = 0.30, 128 = 0.37 }: share of peak by head dim.
bool read_by_head_dim(const Given& given, std::map<int, double>& out) {
  std::map<int, double> shares;
  for (const TreeMember& member : given.tree.members) {
    int dim = 0;
    const auto [end, error] =
        std::from_chars(member.key.data(), member.key.data() + member.key.size(), dim);
    if (error != std::errc() || end != member.key.data() + member.key.size() || dim < 1 ||
        dim > 65536) {
      given.context.out.add(diagnose(member.key_place,
                                     "'" + printable(member.key) + "' is not a head dimension",
                                     expected_text(given.info)));
      return false;
    }
    double share = 0;
    if (!read_value({member.value, given.info, given.context}, share)) {
      return false;
    }
    shares[dim] = share;
  }
  if (given.tree.type != TreeType::table || shares.empty()) {
    report(given, "not a table of shares by head dimension");
    return false;
  }
  out = std::move(shares);
  return true;
}

const Schema<AttentionRate>& attention_schema() {
  static const Schema<AttentionRate> schema = [] {
    Schema<AttentionRate> s{"attention", "An attention kernel of the family", {}};
    add(s, "kernel", at(&AttentionRate::kernel), "flash-1, flash-2, flash-3, cudnn, splash")
        .required();
    const auto by_dim = [&](std::string key, std::map<int, double> AttentionRate::*member,
                            std::string help) {
      add_custom(
          s, std::move(key), "shares by head dimension", "a table such as { 128 = 0.37 }",
          [member](const Given& given, AttentionRate& rate) {
            return read_by_head_dim(given, rate.*member);
          },
          std::move(help))
          .required()
          .between(tiny, 1);
      s.fields.back().info.figure = true;
    };
    by_dim("forward", &AttentionRate::forward, "share of the dense 16-bit matrix peak");
    by_dim("backward", &AttentionRate::backward, "the same, of backward's 2.5 times the work");
    add(s, "start", at(&AttentionRate::start), "start and drain").between(0, 1).because("none");
    add(s, "wave", at(&AttentionRate::wave), "per wave of query blocks")
        .between(0, 1)
        .because("none");
    return s;
  }();
  return schema;
}

const Schema<GemmLibrary>& gemm_library_schema() {
  static const Schema<GemmLibrary> schema = [] {
    using L = GemmLibrary;
    Schema<L> s{"library", "A library's kernels of one precision, where they differ", {}};
    add(s, "name", at(&L::name), "trtllm, vllm, cublas-profiled").required();
    add(s, "precision", at(&L::precision), "of the operands").required();
    const auto share = [&](const char* key, std::optional<double> L::*member, const char* help) {
      add(s, key, at(member), help).between(tiny, 1).because("as the family's");
    };
    share("unit", &L::unit, "share of its peak that a unit reaches");
    share("sustained", &L::sustained, "share of the peak under load");
    share("burst", &L::burst, "share of the peak in a few replays");
    add(s, "start", at(&L::start), "start, drain and launches of its quantisation")
        .between(0, 1)
        .because("as the family's");
    add(s, "cast", at(&L::cast), "share of memory bandwidth that quantising A reaches")
        .between(0, 1)
        .because("operands come quantised");
    return s;
  }();
  return schema;
}

void add_gemm_refinements(Schema<K>& s) {
  using G = GemmCalibration;
  add(s, "gemm.boost", in(&K::gemm, &G::boost), "time in which a burst falls to the steady clock")
      .between(0, 1)
      .because("bursts do not fall");
  add(s, "gemm.loop_boost", in(&K::gemm, &G::loop_boost), "the same in loops of a busy node")
      .between(0, 1)
      .because("loops do not fall");
  add(s, "gemm.easy_data", in(&K::gemm, &G::easy_data),
      "rate within power on unrandomised data, against random")
      .between(1, 3)
      .because("as on random data");
  add(s, "gemm.still_data", in(&K::gemm, &G::still_data), "the same on zeros or low-toggle data")
      .between(1, 3)
      .because("as on random data");
  const auto grouped = [&](const char* key, double GroupedRate::*member, const char* help) {
    add(
        s, key, [member](auto& k) -> auto& { return k.gemm.grouped.*member; }, help)
        .between(tiny, 2)
        .because("as a batch");
  };
  grouped("gemm.grouped.forward", &GroupedRate::forward, "grouped against batched, forward");
  grouped("gemm.grouped.data_gradient", &GroupedRate::data_gradient, "the same, data gradient");
  grouped("gemm.grouped.weight_gradient", &GroupedRate::weight_gradient,
          "the same, weight gradient");
  add(s, "gemm.sparse", in(&K::gemm, &G::sparse), "share of the doubled 2:4 rate, against dense")
      .between(tiny, 1)
      .because("typical of GPUs");
  add_tables(
      s, "gemm.library", gemm_library_schema(), [](auto& k) -> auto& { return k.gemm.libraries; },
      "libraries that differ");
}

void add_gemm(Schema<K>& s) {
  using G = GemmCalibration;
  const auto share = [](PrecisionTable<double> G::*table) {
    return [table](auto& k) -> auto& {
      return k.gemm.*table;
    };
  };
  add_precisions(s, "gemm.sustained", share(&G::sustained),
                 "share of the dense peak under a training-like load", 1);
  add_precisions(s, "gemm.burst", share(&G::burst), "the same in a few replays on a cool chip", 1);
  add_precisions(s, "gemm.loop", share(&G::loop), "the same in loops of a whole busy node", 1);
  add_precisions(s, "gemm.unit", share(&G::unit),
                 "share of its peak that a compute unit reaches at full clock", 1);
  add(s, "gemm.ceiling", in(&K::gemm, &G::ceiling), "share of the peak when power does not limit")
      .between(tiny, 1)
      .because("typical of GPUs");
  add(s, "gemm.start", in(&K::gemm, &G::start), "start and drain of a kernel")
      .required()
      .between(0, 1);
  add(s, "gemm.split_start", in(&K::gemm, &G::split_start), "one more pass when K is split")
      .between(0, 1)
      .because("none");
  add(s, "gemm.memory_fraction", in(&K::gemm, &G::memory_fraction),
      "share of memory bandwidth reached")
      .between(tiny, 1)
      .because("typical of GPUs");
  add(s, "gemm.extra_k", in(&K::gemm, &G::extra_k), "prologue and epilogue, as extra K")
      .between(0, 65536)
      .because("typical of GPUs");
  add_custom(
      s, "gemm.tiles", "list of tiles", "a list such as [[128, 128], [128, 256]]",
      [](const Given& given, K& k) { return read_tiles(given, k.gemm.tiles); },
      "output tiles of the library, rows by columns; needed unless systolic");
  s.fields.back().info.figure = true;
  add(s, "gemm.l2_reuse", in(&K::gemm, &G::l2_reuse), "compute units fed by one fetch from L2")
      .between(tiny, 1024)
      .because("each fetches for itself");
  add(s, "gemm.systolic", in(&K::gemm, &G::systolic), "edge of a systolic array; 0 = none")
      .between(0, 65536)
      .because("not systolic");
  add(s, "gemm.weight_gradient_rate", in(&K::gemm, &G::weight_gradient_rate), "against forward")
      .between(tiny, 2)
      .because("typical of GPUs");
  add(s, "gemm.alignment", in(&K::gemm, &G::alignment), "dimensions are padded up to a multiple")
      .between(1, 65536)
      .because("typical of GPUs");
}

bool read_class(const Given& given, KernelClass& out) {
  std::string name;
  if (!read_value(given, name)) {
    return false;
  }
  const std::optional<KernelClass> known = kernel_class_from(name);
  if (!known) {
    report(given, "not a class of memory-bound kernels");
    return false;
  }
  out = *known;
  return true;
}

const Schema<MemoryLibrary>& memory_library_schema() {
  static const Schema<MemoryLibrary> schema = [] {
    using L = MemoryLibrary;
    Schema<L> s{"library", "A library's memory-bound kernels of one class", {}};
    add(s, "name", at(&L::name), "vllm-2023, torch-eager-2023").required();
    add_custom(
        s, "class", "class of memory-bound kernels", "a class such as norm or rope",
        [](const Given& given, L& l) { return read_class(given, l.kernel_class); },
        "of the kernels")
        .required();
    add(s, "fraction", at(&L::fraction), "most of memory bandwidth that they reach")
        .required()
        .between(tiny, 1);
    add(s, "unit_bytes", at(&L::unit_bytes), "most that a compute unit moves per clock; 0 = any")
        .between(0, 4096)
        .because("units keep up");
    add(s, "resident", at(&L::resident), "rate on tensors that fit in L2, against memory")
        .between(tiny, 16)
        .because("as from memory");
    add(s, "serial", at(&L::serial), "passes bound by units and by memory follow each other")
        .because("one pass");
    add(s, "start", at(&L::start), "start, drain and what the host does before")
        .required()
        .between(0, 1);
    add(s, "floor", at(&L::floor), "least time of a call timed from the host")
        .between(0, 1)
        .because("none");
    return s;
  }();
  return schema;
}

void add_memory(Schema<K>& s) {
  using M = MemoryCalibration;
  add(s, "memory.l2_copy", in(&K::memory, &M::l2_copy),
      "copy within L2, share of its read bandwidth")
      .between(tiny, 1)
      .because("typical of GPUs");
  add(s, "memory.copy", in(&K::memory, &M::copy), "plain copy, share of memory bandwidth")
      .between(tiny, 1)
      .because("typical of GPUs");
  add(s, "memory.stream", in(&K::memory, &M::stream), "reads alone or writes alone, share of it")
      .between(tiny, 1)
      .because("typical of GPUs");
  for (std::size_t i = 0; i < kernel_class_count; ++i) {
    add(
        s, "memory.classes." + std::string(name_of(static_cast<KernelClass>(i))),
        [i](auto& k) -> auto& { return k.memory.classes[i]; },
        "share of memory bandwidth that kernels of this class reach")
        .between(tiny, 1)
        .derived("as memory.copy");
    s.fields.back().info.family = "memory.classes.CLASS";
  }
  add(s, "memory.half_size", in(&K::memory, &M::half_size), "bytes at which half of it is reached")
      .required()
      .between(0, 1e12);
  add(s, "memory.start", in(&K::memory, &M::start), "start and drain of a small kernel")
      .required()
      .between(0, 1);
  add_tables(
      s, "memory.library", memory_library_schema(),
      [](auto& k) -> auto& { return k.memory.libraries; }, "libraries that were measured");
}

void add_rest(Schema<K>& s) {
  using L = LaunchCalibration;
  using P = PowerCalibration;
  add(s, "launch.stream_gap", in(&K::launch, &L::stream_gap), "between kernels of a stream")
      .required()
      .between(0, 1);
  add(s, "launch.graph_gap", in(&K::launch, &L::graph_gap), "inside a captured graph")
      .required()
      .between(0, 1);
  add(s, "power.fixed", in(&K::power, &P::fixed), "share of TDP that ignores the core clock")
      .between(0, 1)
      .because("typical of accelerators");
  add(s, "power.reference_tdp", in(&K::power, &P::reference_tdp),
      "board power behind the sustained and burst figures")
      .because("each board is its own reference");
  add(s, "power.reference_peak", in(&K::power, &P::reference_peak),
      "dense bf16 (else fp16, fp32) peak of that board")
      .because("each board is its own reference");
  add(s, "power.exponent", in(&K::power, &P::exponent), "f V(f)^2 as one power of f")
      .between(1, 4)
      .because("typical of accelerators");
  add(s, "power.dram", in(&K::power, &P::dram),
      "energy of DRAM traffic, its way through the chip included")
      .between(0, 1e-6)
      .because("as measured on HBM boards");
  add(s, "power.vector", in(&K::power, &P::vector), "energy of work outside the matrix units")
      .between(0, 1e-6)
      .because("as measured on GPUs");
  add(s, "power.l2", in(&K::power, &P::l2),
      "share of TDP that L2 traffic at full rate adds to idle")
      .between(0, 1)
      .because("as measured on Blackwell");
  using S = CalibrationSpread;
  const char* const typical = "typical of the families measured";
  add(s, "spread.matrix", in(&K::spread, &S::matrix), "scatter of GEMM and attention about the law")
      .between(0, 1)
      .because(typical);
  add(s, "spread.memory", in(&K::spread, &S::memory), "scatter of memory-bound kernels")
      .between(0, 1)
      .because(typical);
  add(s, "spread.launch", in(&K::spread, &S::launch), "scatter of gaps and of the host's dispatch")
      .between(0, 1)
      .because(typical);
  add(s, "power.minimum_clock", in(&K::power, &P::minimum_clock), "lowest clock a cap can force")
      .between(tiny, 1)
      .because("typical of accelerators");
}

} // namespace

const Schema<K>& calibration_schema() {
  static const Schema<K> schema = [] {
    Schema<K> s{"calibration", "Kernel constants of a chip family (models/calibrations)", {}};
    add_identity(
        s, [](auto& k) -> auto& { return k; });
    add_choice(s, "basis", at(&K::basis),
               Choices<std::string>{{"measured", "measured"}, {"family", "family"}},
               "measured on chips of this family, or carried over from a sibling")
        .required();
    add_gemm(s);
    add_gemm_refinements(s);
    add_tables(s, "attention", attention_schema(), at(&K::attention), "attention kernels");
    add_memory(s);
    add_rest(s);
    return s;
  }();
  return schema;
}

} // namespace clustersim
