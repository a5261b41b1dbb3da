// Command wording counts names, comments and words that make the code of a package hard to read. It fails if a
// count is higher than in tools/wording/figures.csv. It counts
//
//   - private functions, also those with one-word names, participles or adverbs
//   - comments that define a name: "X is what", "X is how", "X are those"
//   - words of comments and strings, also those that only this project uses
//
// make lint runs it at the top of the repository. A new package must meet the goals of [goalsFor].
//
//	out/wording            compares the packages with the table
//	out/wording -update    writes figures that fell, and packages that came or went; all
//	                       figures if there is no table
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

func main() {
	if err := runCommand(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "wording:", err)
		os.Exit(1)
	}
}

func runCommand(args []string, stdout io.Writer) error {
	flags := flag.NewFlagSet("wording", flag.ContinueOnError)
	root := flags.String("root", ".", "top of the repository")
	update := flags.Bool("update", false, "write figures that fell")
	if err := flags.Parse(args); err != nil {
		return err
	}
	path := filepath.Join(*root, "tools", "wording", "figures.csv")
	known, err := readTable(path)
	if err != nil {
		return err
	}
	packages, err := measureTree(*root)
	if err != nil {
		return err
	}
	if known == nil && *update {
		return writeTable(path, newTable(packages))
	}
	rises := compareAll(known, packages)
	for _, r := range rises {
		fmt.Fprintln(stdout, r)
	}
	if *update {
		if err := writeTable(path, lowerTable(known, packages)); err != nil {
			return err
		}
	}
	if len(rises) > 0 {
		return fmt.Errorf("%d figures have risen; CONTRIBUTING.md (Style) explains how to name and describe", len(rises))
	}
	total := figures{}
	for _, p := range packages {
		total.add(p.figures)
	}
	_, err = fmt.Fprintf(stdout, "%d packages: %s\n", len(packages), total)
	return err
}
