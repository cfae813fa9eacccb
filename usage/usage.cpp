#include "usage/usage.h"

#include <memory>

namespace tallyfs {
namespace {

// Without "TEXT", "REQUIRED", "(1x)", "Excludes:".
class PlainFormatter : public CLI::Formatter {
  std::string make_option_opts(const CLI::Option* option) const override {
    return option->get_option_text().empty() ? "" : " " + option->get_option_text();
  }
  std::string make_option_usage(const CLI::Option* option) const override {
    std::string name = make_option_name(option, true);
    if (option->get_expected_max() >= CLI::detail::expected_max_vector_size) name += "...";
    return option->get_required() ? name : "[" + name + "]";
  }
};

}  // namespace

void set_up_usage(CLI::App& app, const std::string& name, const std::string& version) {
  app.name(name);
  app.set_help_flag("-h,--help", "show this");
  app.set_version_flag("-V,--version", name + " " + version, "show the version");
  app.formatter(std::make_shared<PlainFormatter>());
  app.failure_message([](const CLI::App* of, const CLI::Error& error) {
    return of->get_name() + ": " + CLI::FailureMessage::simple(of, error);
  });
}

CLI::Option* show_value(CLI::Option* option, const std::string& value, const std::string& bounds) {
  if (option->get_default_str().empty()) option->capture_default_str();
  std::string told = option->get_default_str();
  if (!told.empty() && !bounds.empty()) told += "; ";
  told += bounds;
  if (!told.empty()) option->description(option->get_description() + " (" + told + ")");
  return option->option_text(value);
}

std::optional<int> parse(CLI::App& app, int argc, char** argv) {
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageStatus;
  }
}

}  // namespace tallyfs
