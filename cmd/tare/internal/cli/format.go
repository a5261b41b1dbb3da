package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/report"
)

// formatFlag is --format, and --json as a short way to say --format json.
type formatFlag struct {
	name   string
	asJSON bool
}

func (f *formatFlag) add(flags *pflag.FlagSet, several string) {
	flags.StringVar(&f.name, "format", "text", "`how` to print it: "+report.FormatNames())
	flags.BoolVar(&f.asJSON, "json", false, "the same as --format json: "+several)
}

// complete offers the formats to the shell.
func (f *formatFlag) complete(cmd *cobra.Command) {
	complete(cmd, "format", func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, f := range report.Formats() {
			if strings.HasPrefix(f.Name, start) {
				names = append(names, f.Name+"\t"+f.Summary)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// format is the one that was asked for.
func (f *formatFlag) format(cmd *cobra.Command) (report.Format, error) {
	name := f.name
	if f.asJSON {
		if name != "json" && cmd.Flags().Changed("format") {
			return report.Format{}, &usageError{"--json and --format " + name + " contradict each other", "give one of them"}
		}
		name = "json"
	}
	format, ok := report.FormatNamed(name)
	if !ok {
		return report.Format{}, &usageError{fmt.Sprintf("--format %q is not a format", name), "one of " + report.FormatNames()}
	}
	return format, nil
}

// formatHelp describes the formats for a help text.
func formatHelp() string {
	var b strings.Builder
	for _, f := range report.Formats() {
		fmt.Fprintf(&b, "  %-9s %s\n", f.Name, f.Summary)
	}
	return strings.TrimRight(b.String(), "\n")
}

// write writes results one after the other, or where a format holds only one,
// as a list.
func write(w io.Writer, f report.Format, results []*tare.Result, st report.Style) error {
	if f.Next == nil {
		return document(w, results, len(results) == 1)
	}
	for i, r := range results {
		one := f.Write
		if i > 0 {
			one = f.Next
		}
		if err := one(w, r, st); err != nil {
			return err
		}
	}
	if f.Name == "text" && len(results) > 1 {
		fmt.Fprintln(w)
		return claims(w, results, st)
	}
	return nil
}
