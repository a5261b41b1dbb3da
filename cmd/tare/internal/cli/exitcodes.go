package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/suggest"
)

// This file prints the help topic exit-codes: what each exit code of tare means. For example, 4
// means that the result is inconclusive.

// helpWidth is the width of help texts, in columns.
const helpWidth = 80

// newExitCodesTopic returns the help topic, a command that runs nothing.
func newExitCodesTopic() *cobra.Command {
	return &cobra.Command{Use: "exit-codes", Short: "Exit codes, and the codes of errors in JSON", Long: exitCodesText()}
}

// exitCodesText returns a table of the exit codes. Below each exit code are the codes of its errors
// in JSON, which are printed in addition to the line on standard error.
func exitCodesText() string {
	var b strings.Builder
	b.WriteString("Exit codes, and below each the codes of errors that --json prints with it:\n\n")
	const nameColumns = 13
	addRow := func(indent, name, meaning string) {
		lines := cmdenv.Wrap(strings.ReplaceAll(meaning, "`", ""), helpWidth, len(indent)+nameColumns)
		fmt.Fprintf(&b, "%s%-*s%s\n", indent, nameColumns, name, strings.Join(lines, "\n"+indent+strings.Repeat(" ", nameColumns)))
	}
	exits := cmdenv.Exits()
	slices.SortFunc(exits, func(a, b cmdenv.Exit) int { return a.Code - b.Code })
	for _, exit := range exits {
		addRow("  ", fmt.Sprint(exit.Code), exit.Meaning)
		for _, kind := range exit.Errors {
			addRow("    ", kind.Name, kind.Meaning)
		}
	}
	b.WriteString(`
If several of 3, 4 and 5 apply, the worst counts: 5, then 3, then 4.

With --json (or --format json) an error is the last line of standard output:
{"error": {"code", "exit_code", "message", "file", "line", "col", "next"}}. file, line
and col are absent if there is no place; next are commands that help. The line on
standard error stays.`)
	return b.String()
}

// flagError returns a usage error for err, an error about a flag or an unknown command.
func flagError(cmd *cobra.Command, args []string, err error) error {
	if !cmd.HasParent() && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		return unknownCommand(cmd, args[0])
	}
	help := cmd.CommandPath() + " --help"
	return cmdenv.UsageOf(err, help+" lists the flags", help)
}

// unknownCommand returns the error for a command that root does not have. It suggests the help of
// commands with similar names, else that of tare.
func unknownCommand(root *cobra.Command, name string) error {
	names := cmdenv.CommandNames(root)
	next := []string{"tare --help"}
	if similar := suggest.Names(name, names); len(similar) > 0 {
		next = nil
		for _, name := range similar {
			next = append(next, "tare "+name+" --help")
		}
	}
	return cmdenv.Unknown("command", name, names, "tare --help lists the commands", next...)
}
