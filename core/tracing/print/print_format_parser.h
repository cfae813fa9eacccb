// Compiles the kernel's line of C to a PrintFormat. A line with any part that is not understood
// gives no PrintFormat. Confined to one thread, for one line. Bounds: PrintFormat's.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/tracing/print/print_format.h"

namespace tallyfs::tracing {

class PrintFormatParser {
 public:
  PrintFormatParser(std::string_view text, const EventFormat& format)
      : text_(text), format_(format) {}

  std::optional<PrintFormat> parse();

 private:
  using Kind = PrintFormat::Kind;
  using Operator = PrintFormat::Operator;
  using Sort = PrintFormat::Sort;
  using Node = PrintFormat::Node;
  using NodePtr = std::unique_ptr<Node>;  // nullptr: it is not understood

  // --- print_format_parser.cpp: the line, expressions
  void skip();
  bool take(std::string_view token);
  std::string_view take_word();
  NodePtr make(Kind kind);
  // The node, with its operands.
  static NodePtr joined(NodePtr node, NodePtr left, NodePtr right = {}, NodePtr other = {});
  std::optional<std::string> literals();
  bool split(std::string_view text);
  static bool conversion(std::string_view& text, PrintFormat::Part& part);
  bool values();
  static bool is_shown_by(const Node& value, char conversion);
  NodePtr number_value();
  NodePtr choice();
  static void match(NodePtr& one, NodePtr& other);
  NodePtr binary(int rank);
  NodePtr unary();
  NodePtr parenthesis();
  NodePtr take_type();

  // --- print_format_operands.cpp: what stands between operators
  NodePtr primary();
  NodePtr called(std::string_view function);
  NodePtr number();
  NodePtr character();
  NodePtr field(std::string_view name);
  NodePtr element(const TraceField& field);
  NodePtr bytes_field(std::string_view name);
  NodePtr dynamic_field();
  NodePtr text_field();
  NodePtr dynamic_length();
  NodePtr array();
  NodePtr hex_bytes(std::string_view between);
  NodePtr bits();
  NodePtr size_of();
  NodePtr expected();
  NodePtr bytes_value();
  NodePtr names(Kind kind);
  bool name(Node& node);
  static bool is_constant(const Node& node);

  const std::string_view text_;
  const EventFormat& format_;
  std::size_t at_ = 0;
  std::size_t nodes_ = 0;
  int depth_ = 0;
  PrintFormat made_;
};

}  // namespace tallyfs::tracing
