#include "spec/schemas.hpp"

namespace clustersim {
namespace {

constexpr double highest_rate = 1e20; // FLOP/s: a thousand times any chip

template <class M>
auto chip(M Chip::*member) {
  return at(&ChipInput::chip, member);
}
template <class G, class M>
auto chip(G Chip::*group, M G::*member) {
  return [ group, member ](auto& input) -> auto& {
    return (input.chip.*group).*member;
  };
}

const Schema<ChipPort>& port_schema() {
  static const Schema<ChipPort> schema = [] {
    Schema<ChipPort> s{"port", "Ports of a chip", {}};
    add(s, "link", at(&ChipPort::link), "id of a link").required();
    add(s, "count", at(&ChipPort::count), "how many the chip has").required().between(1, 1024);
    return s;
  }();
  return schema;
}

void add_general(Schema<ChipInput>& s) {
  add(s, "vendor", chip(&Chip::vendor), "who makes it").required();
  add_choice(s, "kind", chip(&Chip::kind),
             Choices<ChipKind>{{"gpu", ChipKind::gpu},
                               {"tpu", ChipKind::tpu},
                               {"accelerator", ChipKind::accelerator},
                               {"cpu", ChipKind::cpu}},
             "what sort of chip")
      .required();
  add(s, "architecture", chip(&Chip::architecture), "the maker's name of the generation")
      .required();
  add(s, "released", chip(&Chip::released), "date, or as much of it as is known");
}

void add_compute(Schema<ChipInput>& s) {
  add(s, "compute.units", chip(&Chip::compute_units), "SMs, CUs, cores or MXUs")
      .between(1, 1e6)
      .because("not stated: work fills the chip without rounding up to whole units");
  add(s, "compute.boost_clock", chip(&Chip::boost_clock), "the clock behind the peaks");
  add(s, "compute.sparsity", chip(&Chip::structured_sparsity), "2:4 sparse matrices")
      .because("not stated");
  add(s, "compute.unpublished", chip(&Chip::unpublished),
      "the maker states no rate: the chip is listed, but nothing can be timed on it")
      .because("its rates are stated");
  add_precisions(s, "compute.matrix", chip(&Chip::matrix),
                 "dense matrix rate with FP32 accumulation", highest_rate);
  add_precisions(s, "compute.matrix_accumulate_16", chip(&Chip::matrix_accumulate_16),
                 "dense matrix rate with 16-bit accumulation, where it is faster", highest_rate);
  add_precisions(s, "compute.vector", chip(&Chip::vector), "rate outside the matrix units",
                 highest_rate);
}

void add_memory(Schema<ChipInput>& s) {
  using Memory = Chip::Memory;
  add(s, "memory.type", chip(&Chip::memory, &Memory::type), "HBM3, GDDR6X, …").required();
  add(s, "memory.capacity", chip(&Chip::memory, &Memory::capacity), "data sheet").required();
  add(s, "memory.usable", chip(&Chip::memory, &Memory::usable),
      "what the driver gives an application")
      .derived(
          "99.5 % of the capacity on GPUs (79.65 of 80 GiB on H100), 15/16 of that with inline "
          "ECC, all of it elsewhere");
  add(s, "memory.bandwidth", chip(&Chip::memory, &Memory::bandwidth), "data sheet").required();
  add(s, "memory.ecc_inline", chip(&Chip::memory, &Memory::ecc_inline),
      "ECC is kept in the memory itself and takes capacity and bandwidth")
      .because("memory with its own ECC, or none");
  add(s, "l2.capacity", chip(&Chip::l2, &Chip::Cache::capacity), "last-level cache")
      .because("none stated: nothing stays on the chip between kernels");
  add(s, "l2.bandwidth", chip(&Chip::l2, &Chip::Cache::bandwidth), "read rate of that cache")
      .derived(
          "2.9 times the memory bandwidth, as on H200 (9.7 of 3.35 TB/s on the same die's H100)");
}

void add_rest(Schema<ChipInput>& s) {
  add(s, "power.tdp", chip(&Chip::power, &Chip::Power::tdp), "board power limit").required();
  add(s, "power.idle", chip(&Chip::power, &Chip::Power::idle), "board at boost clock, no work")
      .derived("13 % of the TDP, as on H100 (90 of 700 W)");
  add(s, "die.area_mm2", chip(&Chip::die, &Chip::Die::area_mm2), "of all dies, in mm^2")
      .above(0, 1e6);
  add(s, "die.transistors", chip(&Chip::die, &Chip::Die::transistors), "of all dies")
      .above(0, 1e15);
  add(s, "die.process_nm", chip(&Chip::die, &Chip::Die::process_nm),
      "the foundry's name of the process, in nm")
      .above(0, 1000);
  add_tables(s, "port", port_schema(), chip(&Chip::ports), "what the chip can be joined by");
  add(s, "form.factor", chip(&Chip::form_factor), "SXM, PCIe, OAM, …");
  add(s, "form.slots", chip(&Chip::slots), "PCIe slots that the card covers").between(0.5, 16);
  add(s, "price.launch", chip(&Chip::launch_price), "list price when it came out");
  add(s, "price.street", chip(&Chip::street_price), "what people paid");
  add(s, "price.cloud", chip(&Chip::cloud_price), "hire of one chip");
  add(s, "calibration.use", at(&ChipInput::calibration),
      "kernel constants: id of a calibration; any of its keys may follow to replace one")
      .required();
}

} // namespace

const Schema<ChipInput>& chip_schema() {
  static const Schema<ChipInput> schema = [] {
    Schema<ChipInput> s{"chip", "A chip as sold (models/chips)", {}};
    add_identity(s, at(&ChipInput::chip));
    add_general(s);
    add_compute(s);
    add_memory(s);
    add_rest(s);
    return s;
  }();
  return schema;
}

} // namespace clustersim
