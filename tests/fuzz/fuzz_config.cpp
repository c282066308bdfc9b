// Values and files of settings, from anywhere.
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>

#include "config/parse.hpp"
#include "config/settings.hpp"

using namespace sircl;
using namespace sircl::config;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto all = registry();
  const Setting& setting = all[data[0] % all.size()];

  if (const auto value = parse_size(text); value && *value < 0) std::abort();
  if (const auto value = parse_seconds(text); value && !(*value >= 0 && *value <= 1e9))
    std::abort();
  (void)parse_integer(text);
  (void)parse_lines(text);

  // A file named by the value would be read.
  if (setting.name != "SIRCL_CONFIG_FILE") {
    const auto settings = Settings::load({{std::string(setting.name), text}}, {});
    if (settings && setting.type == SettingType::size_bytes &&
        settings->integer(setting.name) > setting.maximum) {
      std::abort();
    }
    if (!settings && setting.secret && !text.empty()) std::abort();
  }
  std::string name = text.substr(0, text.find('\0'));
  (void)Settings::load({}, {{"SIRCL_" + name, "1"}});
  return 0;
}
