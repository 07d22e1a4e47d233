// exocheck export semantics | program: the language and its verdicts as documents for other tools.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <ostream>

#include "driver/certify.hpp"
#include "driver/check_arguments.hpp"
#include "driver/command.hpp"
#include "driver/program_export.hpp"
#include "driver/smt_files.hpp"
#include "driver/text_format.hpp"
#include "driver/theory.hpp"
#include "semantics/export.hpp"

namespace exocheck::driver {
namespace {

namespace fs = std::filesystem;

struct ExportArguments {
  std::string format, output;
  std::string file;
  CheckArguments check;
  bool fixed_sizes = false;
};

bool write_text(const fs::path& path, std::string_view text, const Console& console) {
  std::ofstream file(path, std::ios::binary);
  file << text << std::flush;
  if (file) return true;
  console.err << fmt::format("exocheck: {} cannot be written.\n", path.string());
  return false;
}

bool make_folder(const std::string& path, const Console& console) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return true;
  console.err << fmt::format("exocheck: the folder {} cannot be made: {}.\n", path, error.message());
  return false;
}

// To the file, or to standard output.
int deliver(const std::string& text, const std::string& output, const Console& console) {
  if (!output.empty()) return write_text(output, text, console) ? 0 : 2;
  console.out << text << std::flush;
  return 0;
}

// A folder that compiles on its own: the theory, the tables, and the proof that they agree.
int export_theory(const std::string& folder, const Console& console) {
  if (!make_folder(folder, console)) return 2;
  std::string project = "-Q . Exocheck\n";
  const auto add = [&](std::string_view name, std::string_view text) {
    project += fmt::format("{}\n", name);
    return write_text(fs::path(folder) / name, text, console);
  };
  for (const TheoryFile& file : theory_files()) {
    if (!add(file.name, file.text)) return 2;
  }
  const bool written = add("Tables.v", semantics::export_rocq_tables()) &&
                       add("RuleCheck.v", semantics::export_rocq_rule_check()) &&
                       write_text(fs::path(folder) / "_CoqProject", project, console);
  return written ? 0 : 2;
}

int export_semantics(const ExportArguments& a, const Console& console) {
  if (a.format == "rocq") {
    if (a.output.empty())
      return bad_command_line(console,
                              "export semantics --to rocq writes several files: name a folder with -o.");
    return export_theory(a.output, console);
  }
  return deliver(a.format == "latex"      ? semantics::export_latex()
                 : a.format == "markdown" ? semantics::export_markdown()
                                          : semantics::export_json(),
                 a.output, console);
}

// Exit code 0 if every procedure has a theorem, 3 if one has none.
int export_certificates(const ExportArguments& a, const LoadedFile& file, const FileResult& checked,
                        const std::string& mode, const Console& console) {
  if (!make_folder(a.output, console)) return 2;
  int code = checked.procedures.empty() ? 3 : 0;
  for (const ProcedureResult& procedure : checked.procedures) {
    const auto certificates = make_certificates(file, procedure, mode, !a.fixed_sizes, a.check.timeout);
    for (std::size_t i = 0; i < certificates.size(); ++i) {
      const amir::Certificate& c = certificates[i];
      if (!c.reason.empty()) {
        console.out << fmt::format("{}: {}: no certificate: {}\n", checked.path, procedure.name, c.reason);
        code = 3;
        continue;
      }
      const std::string name =
          fmt::format("p_{}{}.v", procedure.name, certificates.size() == 1 ? "" : fmt::format("_{}", i + 1));
      if (!write_text(fs::path(a.output) / name, c.text, console)) return 2;
      console.out << fmt::format("{}: {}: {}: {}\n", checked.path, procedure.name,
                                 (fs::path(a.output) / name).string(), c.says);
    }
  }
  return code;
}

int export_program(const ExportArguments& a, const Console& console) {
  auto request = make_request(a.check);
  if (const auto* error = std::get_if<UsageError>(&request)) return bad_command_line(console, error->message);
  RunRequest run = std::get<RunRequest>(std::move(request));
  run.obligations = a.format == "smtlib";
  if (a.output.empty() && (a.format == "rocq" || a.format == "smtlib"))
    return bad_command_line(
        console,
        fmt::format("export program --to {} writes several files: name a folder with -o.", a.format));
  const auto loaded = load_named(a.file, console);
  if (const int* code = std::get_if<int>(&loaded)) return *code;
  const LoadedFile& file = std::get<LoadedFile>(loaded);
  if (const auto errors = validate(run, {file}); !errors.empty())
    return bad_command_line(console, errors.front().message);

  RunResult result;
  result.mode = run.mode;
  result.files.push_back(check_file(file, run));
  const FileResult& checked = result.files.front();
  if (const int code = exit_code(result, FailOn::table); code == 2 || code == 4) {
    console.err << format_text(result, {});
    return code;
  }
  if (a.format == "rocq") return export_certificates(a, file, checked, run.mode, console);
  if (a.format == "smtlib") {
    if (const std::string problem = write_smt_files(result, a.output); !problem.empty()) {
      console.err << fmt::format("exocheck: {}\n", problem);
      return 2;
    }
    return 0;
  }
  return deliver(program_document(file, checked, run.mode, a.format), a.output, console);
}

}  // namespace

void add_export_command(CLI::App& app, const Console& console, Action& action) {
  CLI::App* command =
      app.add_subcommand("export", "The semantics, or a program with its verdict, for other tools");
  command->require_subcommand(1);

  CLI::App* language = command->add_subcommand(
      "semantics", "Timelines, modes, memories, units and rules, from the checker's own tables");
  const auto s = std::make_shared<ExportArguments>();
  language->add_option("--to", s->format, "rocq (a folder that coqc can compile), latex, markdown or json")
      ->required()
      ->check(CLI::IsMember({"rocq", "latex", "markdown", "json"}))
      ->type_name("FORMAT");
  language->add_option("-o", s->output, "File to write (rocq: folder); default: standard output")
      ->type_name("PATH");
  language->callback(
      [s, &console, &action] { action = [s, &console] { return export_semantics(*s, console); }; });

  CLI::App* program = command->add_subcommand("program", "A program with its verdict");
  const auto p = std::make_shared<ExportArguments>();
  program->add_option("FILE", p->file, "The file, or - for standard input")->required();
  program
      ->add_option("--to", p->format,
                   "rocq (certificates), smtlib (proof obligations), latex, markdown or json")
      ->required()
      ->check(CLI::IsMember({"rocq", "smtlib", "latex", "markdown", "json"}))
      ->type_name("FORMAT");
  program->add_option("-o", p->output, "File to write (rocq, smtlib: folder); default: standard output")
      ->type_name("PATH");
  add_check_before_options(*program, p->check);
  program->add_flag("--fixed-sizes", p->fixed_sizes,
                    "rocq: claims about the sizes that were run, none about every size");
  program->callback(
      [p, &console, &action] { action = [p, &console] { return export_program(*p, console); }; });
}

}  // namespace exocheck::driver
