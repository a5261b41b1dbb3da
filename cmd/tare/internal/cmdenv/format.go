package cmdenv

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/check"
	"github.com/tarebench/tare/report"
	"github.com/tarebench/tare/report/html"
)

// Names of the files of HTML pages.
const (
	PageName   = "report.html" // page of a result, in the directory of its run
	ClaimsName = "claims.html" // newest page of all claims, in the data directory
)

func allFormats() []report.Format { return append(report.Formats(), PageOf(nil)) }

// PageOf returns the format of HTML pages. The other files of a result, such as flame graphs, are in
// files, which may be nil.
func PageOf(files fs.FS) report.Format {
	return html.Format(html.Options{Files: files, Explain: func(id string) string {
		for _, c := range slices.Concat(check.All(), benchstudy.Notes()) {
			if c.ID == id {
				return c.Summary + " " + c.Why
			}
		}
		return ""
	}})
}

// SavePage writes the page of a result whose files are in dir. Only the owner can read it.
func SavePage(path, dir string, res *tare.Result) error {
	return SaveFile(atomicfile.System{}, path, 0o600, func(f io.Writer) error { return PageOf(os.DirFS(dir)).Write(f, res, report.Style{}) })
}

func formatNames() string {
	var names []string
	for _, f := range allFormats() {
		names = append(names, f.Name)
	}
	return strings.Join(names, ", ")
}

// FormatFlag contains the flags --format, and --json, which is short for --format json.
type FormatFlag struct {
	Name   string
	AsJSON bool
}

// Add adds the flags; document describes the output of --json.
func (f *FormatFlag) Add(flags *pflag.FlagSet, document string) {
	flags.StringVar(&f.Name, "format", "text", "`format` of the output: "+formatNames())
	flags.BoolVar(&f.AsJSON, "json", false, "the same as --format json: "+document)
}

// Complete sets the shell completion of --format.
func (f *FormatFlag) Complete(cmd *cobra.Command) {
	CompleteFlag(cmd, "format", func(_ *cobra.Command, _ []string, start string) ([]string, cobra.ShellCompDirective) {
		var names []string
		for _, f := range allFormats() {
			if strings.HasPrefix(f.Name, start) {
				names = append(names, f.Name+"\t"+f.Summary)
			}
		}
		return names, cobra.ShellCompDirectiveNoFileComp
	})
}

// Format returns the format that the flags select.
func (f *FormatFlag) Format(cmd *cobra.Command) (report.Format, error) {
	name, err := f.Choose(cmd, "a format", strings.Split(formatNames(), ", ")...)
	formats := allFormats()
	i := slices.IndexFunc(formats, func(format report.Format) bool { return format.Name == name })
	return formats[max(i, 0)], err // i is -1 only if err is not nil
}

// Choose returns the name that the flags select among names. An error calls the name what: "a format".
func (f *FormatFlag) Choose(cmd *cobra.Command, what string, names ...string) (string, error) {
	switch {
	case f.AsJSON && f.Name != "json" && cmd.Flags().Changed("format"):
		return "", Usage("--json and --format "+f.Name+" contradict each other", "give one of them")
	case f.AsJSON:
		return "json", nil
	case !slices.Contains(names, f.Name):
		return "", Usage(fmt.Sprintf("--format %q is not %s", f.Name, what), "one of "+strings.Join(names, ", "))
	}
	return f.Name, nil
}

// ForPeople reports whether a format is meant for terminals.
func ForPeople(f report.Format) bool { return f.Name == "text" || f.Name == "brief" }

// CheckFormat returns an error if a format cannot represent that number of results.
func CheckFormat(f report.Format, results int) error {
	// A format with Next appends further results, and JSON has lists.
	if f.Next != nil || f.Name == "json" || results <= 1 {
		return nil
	}
	return Usage(fmt.Sprintf("--format %s holds one result, and there are %d", f.Name, results), "name one of them; each run has a "+PageName+" next to its result")
}

// FormatHelp describes the formats for a help text.
func FormatHelp() string {
	var b strings.Builder
	for _, f := range allFormats() {
		fmt.Fprintf(&b, "  %-9s %s\n", f.Name, f.Summary)
	}
	return strings.TrimRight(b.String(), "\n")
}

// WriteResults writes results one after the other, or as a list in JSON.
func WriteResults(w io.Writer, f report.Format, results []*tare.Result, st report.Style) error {
	if err := CheckFormat(f, len(results)); err != nil {
		return err
	}
	if f.Name == "json" {
		return WriteDocument(w, results, len(results) == 1)
	}
	for i, r := range results {
		st.Lines = report.BlockLines(i, len(results))
		write := f.Write
		if i > 0 {
			write = f.Next
		}
		if err := write(w, r, st); err != nil {
			return err
		}
	}
	return WriteTogether(w, f, results, st)
}

// WriteTogether writes a summary of several results, if the format has one. In text format it has their
// claims and traps, programs whose mistake the checks must find.
func WriteTogether(w io.Writer, f report.Format, results []*tare.Result, st report.Style) error {
	switch {
	case !ForPeople(f) || len(results) < 2:
		return nil
	case f.Name == "brief":
		return report.Totals(w, results, st)
	}
	fmt.Fprintln(w)
	if err := report.ClaimsText(w, results, st); err != nil {
		return err
	}
	if text := report.TrapsCount(results); text != "" {
		fmt.Fprintf(w, "\ntraps: %s\n", text)
	}
	return nil
}
