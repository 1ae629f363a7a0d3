#pragma once
// A catalogue of one file of each kind in a folder of its own, gone when the test ends. Tests
// change a file by replacing a line in it, so that they show only what they are about.

#include "spec/catalogue.hpp"
#include "spec/load.hpp"

#include <optional>
#include <string>
#include <vector>

namespace clustersim::test {

class SmallCatalogue {
public:
  SmallCatalogue();
  ~SmallCatalogue();
  SmallCatalogue(const SmallCatalogue&) = delete;
  SmallCatalogue& operator=(const SmallCatalogue&) = delete;

  void write(const std::string& path, const std::string& text) const;
  /// Replaces `from` in a file; fails the test if it is not there.
  void replace(const std::string& path, const std::string& from, const std::string& to) const;
  [[nodiscard]] std::string read(const std::string& path) const;
  [[nodiscard]] const std::string& root() const { return root_; }
  [[nodiscard]] Catalogue catalogue() const { return Catalogue({root_}); }

private:
  std::string root_;
};

/// A scenario on two nodes of two chips each, tensor 2, data 2.
[[nodiscard]] std::string small_scenario();
[[nodiscard]] std::string replaced(std::string text, const std::string& from,
                                   const std::string& to);

struct Outcome {
  std::optional<Scenario> scenario;
  Diagnostics diagnostics;
  [[nodiscard]] std::string text() const { return render(diagnostics, false); }
  [[nodiscard]] std::size_t count() const { return diagnostics.sorted().size(); }
};
[[nodiscard]] Outcome parse(const SmallCatalogue& catalogue, const std::string& text,
                            const std::vector<std::string>& settings = {});

/// Value of the echo by key; fails the test if it is absent.
[[nodiscard]] const ResolvedValue& value_of(const std::vector<ResolvedValue>& values,
                                            const std::string& key);

} // namespace clustersim::test
