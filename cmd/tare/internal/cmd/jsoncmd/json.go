// Package jsoncmd implements tare json: it measures JSON codecs on documents of the user.
package jsoncmd

import (
	"errors"
	"fmt"
	gofmt "go/format"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/advice"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/jsonstudy"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/cmd/tare/internal/textfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/kinds/codec"
	"github.com/tarebench/tare/lab"
)

type options struct {
	run  session.Options
	typ  string   // import/path.Type; "" means that the type is inferred
	op   string   // any, typed or all
	only []string // globs of codecs; nil means all
	show bool     // print the inferred type, measure nothing

	releases session.ReleaseFlag // Go releases to compare; not set if codecs are compared
}

// Command returns tare json.
func Command(env cmdenv.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:   "json FILE…",
		Short: "Compare JSON codecs on your own documents",
		Long: `Compare JSON codecs with encoding/json on your own documents: decoding into any
and into a Go type, and encoding both.

A FILE holds one JSON document, or one on each line (NDJSON); - is stdin. It may
be compressed (gzip, bzip2, zstd) and in UTF-16. tare infers the type from all
documents: a value that may be null or missing becomes a pointer, one of several
kinds becomes any, and an object whose keys are data becomes a map. --show-type
prints the type and measures nothing. --type names a type of your own module
instead, found from the working directory as the go command finds it; nothing is
written there. Codecs that need generated code get it for a copy of the type, or
are omitted with the reason.

tare compares what each codec makes of your documents with what encoding/json
makes of them. A codec with other numbers or texts is measured, and the report
lists them; one that loses parts, fails or writes invalid JSON is disqualified.

The report goes to stdout. It begins with a recommendation and its disadvantages,
and ends with one for each workload. The result is kept like those of tare run,
as a study named json- and the name of the first file.

With --go it measures only encoding/json, built with several Go releases:
go1.26,go1.27 compares the newest of both, and go1.26.8,go1.26.8+jsonv2 one
without and with an experiment. If the last one has the new implementation of
encoding/json (the default from Go 1.27), tare also measures the former one in
the same release. This shows which differences are due to the implementation and
go away with GOEXPERIMENT=nojsonv2. tare compares the answers to your documents,
and to the same with one damage each, texts of errors included. It downloads a
missing release.

With --on each machine receives the documents, builds the codecs and measures
them; verdicts combine the machines. With --type it receives your module as well.

Exit codes: 0 measured, whatever the verdict; 1 the measurement failed; 2 bad input or
a budget below the minimum; 130 interrupted. With --exit-code also 5 void.`,
		Example: `  tare json order.json
  tare json events.ndjson --op any --only 'sonic*,goccy'
  tare json order.json --show-type > order.go
  tare json order.json --dry-run
  tare json testdata/*.json --type example.com/shop/order.Order
  curl -s https://api.example.com/orders | tare json - --budget 3m -o result.json
  tare json order.json --go go1.26,go1.27
  tare json order.json --only 'sonic*' --rounds 18 --on local,ssh:a,ssh:b`,
		Args: cmdenv.Needs(0, "a document", "name a file of JSON or NDJSON, or - for stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.check(cmd); err != nil {
				return err
			}
			o.run.Typed = session.TypedBy(env, cmd)
			return runJSON(cmd, env, o, args)
		},
	}
	o.addFlags(cmd)
	return cmd
}

func (o *options) addFlags(cmd *cobra.Command) {
	selection := cmdenv.NewFlags("What is measured")
	selection.Set.StringVar(&o.typ, "type", "", "measure with a `type` of your own module's, import/path.Type or ./dir.Type, instead of an inferred one")
	selection.Set.StringVar(&o.op, "op", "all", "`what` is decoded into and encoded from: any, typed or all")
	selection.Set.StringSliceVar(&o.only, "only", nil, "only encoding/json and codecs that match `glob`; repeatable, or several with commas")
	o.releases.Add(selection.Set, "compare encoding/json of several Go `releases`, e.g. go1.26,go1.27, instead of codecs")
	selection.Set.BoolVar(&o.show, "show-type", false, "print the inferred type and measure nothing")
	selection.Set.StringVar(&o.run.Catalog, "catalog", "", "`directory` of a repository of contenders; default: the one around, else the built-in one")
	o.run.AddFlags(cmd, selection, session.Offer{Machines: true, Counts: true})
	cmdenv.CompleteFlag(cmd, "op", cobra.FixedCompletions(jsonstudy.Ops(), cobra.ShellCompDirectiveNoFileComp))
}

func (o *options) check(cmd *cobra.Command) error {
	if err := o.run.Check(cmd); err != nil {
		return err
	}
	o.run.FitInto(jsonstudy.Quick, jsonstudy.Full)
	if !slices.Contains(jsonstudy.Ops(), o.op) {
		return cmdenv.Usage(fmt.Sprintf("--op %q is not an operation", o.op), "one of "+strings.Join(jsonstudy.Ops(), ", "))
	}
	if o.op == "any" && o.typ != "" {
		return cmdenv.Usage("--op any and --type contradict each other", "give one of them")
	}
	if o.releases.IsSet() && len(o.only) > 0 {
		return cmdenv.Usage("--go and --only contradict each other", "--go compares encoding/json with itself; give one of them")
	}
	if err := o.releases.Check(o.run.On); err != nil {
		return err
	}
	return cmdenv.CheckPatterns(lab.Only{Contenders: o.only})
}

func runJSON(cmd *cobra.Command, env cmdenv.Env, o options, args []string) error {
	docs, notes, err := readDocuments(env, args)
	if err != nil {
		return err
	}
	inferred := jsonstudy.Type{}
	if o.typ == "" && o.op != "any" {
		if inferred, err = jsonstudy.Infer(docs); err != nil {
			return err
		}
		for _, n := range inferred.Notes {
			notes = append(notes, "the inferred type: "+n)
		}
	}
	for _, n := range notes {
		fmt.Fprintln(env.Err, "tare: "+format.Line(n, 0))
	}
	if o.show {
		return o.showType(env, inferred, notes)
	}
	if o.run.DryRun {
		return planDocuments(env, o, args, docs, inferred)
	}
	if len(o.run.On.On) > 0 {
		return jsonOn(cmd, env, o, args)
	}
	return measureDocuments(cmd.Context(), env, o, args, docs, inferred)
}

type shownType struct {
	Source string   `json:"source"` // declarations in Go, the type of a document first
	Notes  []string `json:"notes"`  // the lines on stderr
}

func (o options) showType(env cmdenv.Env, inferred jsonstudy.Type, notes []string) error {
	if inferred.Source == "" {
		return cmdenv.Usage("--show-type shows an inferred type", "leave --type and --op any out")
	}
	src, err := gofmt.Source([]byte(inferred.Source))
	if err != nil {
		return err
	}
	if o.run.Format.Name == "json" {
		return cmdenv.PrintJSON(env.Out, shownType{string(src), cmdenv.LegibleLines(notes)})
	}
	_, err = env.Out.Write(src)
	return err
}

const maxDocuments = 4 * codec.MaxRead // bytes of all files

// readDocuments reads the documents of the files args. notes has a line for each peculiarity of a
// file.
func readDocuments(env cmdenv.Env, args []string) (docs []codec.Document, notes []string, err error) {
	size := 0
	for _, arg := range args {
		fileDocs, fileNotes, err := readFile(env, arg)
		var invalid *codec.SyntaxError
		if errors.As(err, &invalid) {
			return nil, nil, cmdenv.UsageOf(err, "")
		}
		if err != nil {
			return nil, nil, err
		}
		for _, d := range fileDocs {
			size += len(d.Body)
		}
		if size > maxDocuments {
			return nil, nil, cmdenv.Usage(fmt.Sprintf("%s: with it the documents have more than %d MB in all", arg, maxDocuments/1_000_000), "name fewer files")
		}
		docs, notes = append(docs, fileDocs...), append(notes, fileNotes...)
	}
	return docs, notes, nil
}

// readFile reads the documents of one file, or of stdin if arg is -. It returns a *codec.SyntaxError
// unchanged, and other errors as usage errors.
func readFile(env cmdenv.Env, arg string) (docs []codec.Document, notes []string, err error) {
	name, r := "<stdin>", env.In
	if arg != "-" {
		f, err := os.Open(arg)
		if err != nil {
			return nil, nil, readError(arg, err)
		}
		defer f.Close()
		name, r = arg, f
	}
	text, err := textfile.Open(r)
	if err != nil {
		return nil, nil, readError(arg, err)
	}
	docs, notes, err = codec.ReadDocuments(name, text)
	if err != nil && !errors.As(err, new(*codec.SyntaxError)) {
		return nil, nil, readError(arg, err)
	}
	if found := text.Found(); found != "" {
		notes = append([]string{fmt.Sprintf("%s: %s, removed before it is measured", name, found)}, notes...)
	}
	return docs, notes, err
}

func readError(arg string, err error) error {
	return cmdenv.Usage(fmt.Sprintf("cannot read %s: %s", arg, format.Line(cmdenv.Cause(err).Error(), 0)), "name a file of JSON or NDJSON, or - for stdin")
}

// formatQuestion returns the question that the study answers, with the names and sizes of the files.
func (o options) formatQuestion(args []string, docs []codec.Document, typ jsonstudy.Type) string {
	text := fmt.Sprintf("Which JSON codec is fastest on %s (%s)", fileNames(args), jsonstudy.Sizes(docs))
	if o.releases.IsSet() {
		text = fmt.Sprintf("What changes between the Go releases %s for encoding/json on %s (%s)", strings.Join(o.releases.Names(), ", "), fileNames(args), jsonstudy.Sizes(docs))
	}
	if typ.Name != "" && o.typ != "" {
		text += ", as " + typ.Name
	}
	return text + "?"
}

const maxNamed = 3

// fileNames lists the first maxNamed files, and how many more.
func fileNames(args []string) string {
	var names []string
	for _, a := range args {
		if a == "-" {
			a = "stdin"
		}
		names = append(names, filepath.Base(a))
	}
	if more := len(names) - maxNamed; more > 0 {
		names = append(names[:maxNamed], fmt.Sprintf("%d more", more))
	}
	return advice.JoinNames(names)
}
