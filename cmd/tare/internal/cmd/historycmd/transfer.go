package historycmd

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/history"
	"github.com/tarebench/tare/cmd/tare/internal/history/index"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/machine"
)

// This file implements tare history export and import, e.g. tare history import results.ndjson. An
// archive is a file with a result document on each line. import converts files of other benchmark
// tools.

func exportCommand(env cmdenv.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "export FILE|- [STUDY…]",
		Short: "Write stored results into one file",
		Long: `Write the results in the data directory into one file, of all studies or of the
named ones: one result document a line (NDJSON), oldest first. The same results
always give the same bytes. - writes to stdout; --json then goes to stderr.

It is for runners that do not keep their files: import the results of earlier
runs, run, export. Journals are not exported, so neither are interrupted runs.`,
		Example: `  tare history export results.ndjson
  tare history export - json-encode | gzip > json-encode.ndjson.gz`,
		Args: cmdenv.Needs(0, "a file", "- writes to stdout"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return exportHistory(cmd.Context(), env, args[0], args[1:], asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was written as JSON")
	return cmd
}

type exportReport struct {
	File    string                 `json:"file"`
	Results []history.DocumentInfo `json:"results"`
	Omitted []string               `json:"left_out"` // one line for each result that could not be read
}

// exportHistory writes the results of studies, or of all if studies is empty, to file. The name -
// means stdout.
func exportHistory(ctx context.Context, env cmdenv.Env, file string, studies []string, asJSON bool) error {
	x, _, err := openHistory(ctx, env)
	if err != nil {
		return err
	}
	defer x.Close()
	if err := checkStudies(ctx, x, studies); err != nil {
		return err
	}
	exported := exportReport{File: file}
	write := func(w io.Writer) (err error) {
		exported.Results, exported.Omitted, err = x.Export(ctx, w, studies)
		return err
	}
	messages := env.Out
	if file == "-" {
		messages = env.Err
		err = write(env.Out)
	} else {
		err = cmdenv.SaveFile(atomicfile.System{}, file, 0o644, write)
	}
	if err != nil {
		return err
	}
	if asJSON {
		if exported.Results == nil {
			exported.Results = []history.DocumentInfo{} // in JSON [], not null
		}
		if exported.Omitted == nil {
			exported.Omitted = []string{}
		}
		err = cmdenv.PrintJSON(messages, exported)
	} else if file != "-" {
		_, err = fmt.Fprintf(messages, "wrote %s to %s\n", format.Count(len(exported.Results), "result"), file)
	}
	printOmissions(env, exported.Omitted...)
	return err
}

func checkStudies(ctx context.Context, x *index.Index, studies []string) error {
	known, err := x.Studies(ctx)
	if err != nil {
		return fmt.Errorf("read the history: %w", err)
	}
	for _, name := range studies {
		if !slices.Contains(known, name) {
			return cmdenv.Unknown("study", name, known, "no run of it was saved; tare history lists the runs")
		}
	}
	return nil
}

func importCommand(env cmdenv.Env) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "import FILE…",
		Aliases: []string{"merge"},
		Short:   "Import results into the data directory",
		Long: `Import results into the data directory: files of tare history export, a
result.json, or a list as tare run --json prints it. - reads from stdin. merge is
another name of import.

tare also imports what other tools recorded: output of go test -bench, with or
without -json, the file of gobenchdata, and the data.js of
github-action-benchmark. They become the studies "recorded PACKAGE", in which
every figure is a ratio to one unit (1 ns, 1 B, one allocation). A log without a
date gets the time at which its file was changed last. tare omits and names
benchmarks without a result, and figures in other units. It rejects two
benchmarks of one name that may be of two packages.

Importing twice changes nothing: results are compared by content. tare rejects a
file that contains anything but results, and then imports nothing from any file.

tare history marks imported results. tare rerun runs nothing of them without
--trust.`,
		Example: `  tare history import results.ndjson
  tare history merge runner-1.ndjson runner-2.ndjson
  go test -run '^$' -bench . -count 10 ./parse > log.txt; tare history import log.txt
  tare history import benchmarks.json dev/bench/data.js
  gzip -dc json-encode.ndjson.gz | tare history import -`,
		Args: cmdenv.Needs(0, "a file", "what tare history export wrote, or a result.json; - reads from stdin"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return importHistory(cmd.Context(), env, args, asJSON)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what was imported as JSON")
	return cmd
}

type importReport struct {
	Imported []history.DocumentInfo `json:"imported"`
	Existing []history.DocumentInfo `json:"already_kept"`       // results that were stored already
	Omitted  []string               `json:"left_out,omitempty"` // parts of other tools' files that were not converted
}

// importHistory writes the results of files into the data directory. It checks all files first, and
// writes nothing if one is invalid.
func importHistory(ctx context.Context, env cmdenv.Env, files []string, asJSON bool) error {
	d, err := env.Dirs()
	if err != nil {
		return err
	}
	sources, closeAll, err := openArchives(ctx, env, files)
	defer closeAll()
	if err != nil {
		return err
	}
	for _, s := range sources { // scanResults itself checks the documents
		if err := s.scanResults(func(history.DocumentInfo, []byte) error { return ctx.Err() }); err != nil {
			return err
		}
	}
	if err := d.MakeData(); err != nil {
		return err
	}
	x, err := openIndex(ctx, env, d)
	if err != nil {
		return err
	}
	defer func() { x.Close() }()
	result := importReport{Imported: []history.DocumentInfo{}, Existing: []history.DocumentInfo{}}
	if err := result.importAll(ctx, x, d, sources); err != nil {
		return err
	}
	if err := x.Refresh(ctx); err != nil {
		return fmt.Errorf("read the results in %s: %w", d.Data, err)
	}
	printOmissions(env, result.Omitted...)
	if asJSON {
		return cmdenv.PrintJSON(env.Out, result)
	}
	omitted := ""
	if n := len(result.Omitted); n > 0 {
		omitted = fmt.Sprintf("; %s skipped, see above", format.Count(n, "line"))
	}
	_, err = fmt.Fprintf(env.Out, "took in %s, %d %s kept already%s\n", format.Count(len(result.Imported), "result"), len(result.Existing), format.Choose(len(result.Existing), "was", "were"), omitted)
	return err
}

// importAll writes the results of sources into the data directory, each once. It skips results that
// the index x has already.
func (r *importReport) importAll(ctx context.Context, x *index.Index, d cmdenv.Dirs, sources []source) error {
	imported := map[string]string{} // path by hash; the index knows only earlier results
	for _, s := range sources {
		err := s.scanResults(func(k history.DocumentInfo, text []byte) (err error) {
			k.Path = imported[k.SHA256]
			if k.Path == "" {
				k.Path, err = x.Has(ctx, k.SHA256)
			}
			if err != nil || k.Path != "" {
				r.Existing = append(r.Existing, k)
				return err
			}
			if k.Path, err = history.ImportDocument(d.Results(k.Study), k, text); err != nil {
				return fmt.Errorf("cannot write results to %s: %w", d.Data, cmdenv.Cause(err))
			}
			imported[k.SHA256] = k.Path
			r.Imported = append(r.Imported, k)
			return nil
		})
		if err != nil {
			return err
		}
		r.Omitted = append(r.Omitted, s.omissions...)
	}
	return nil
}

type source struct {
	name      string   // name for messages
	file      *os.File // the archive, or a temporary copy
	omissions []string // one line for each part that was not converted
}

func (s source) scanResults(visit func(history.DocumentInfo, []byte) error) error {
	if _, err := s.file.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return history.Scan(s.name, s.file, visit)
}

const maxCopied = 4 << 30 // bytes

// copyStream copies a stream to tmp: an archive of at most maxArchive bytes, or a file of another
// tool of at most maxForeign bytes. It parses an archive while copying, so that an endless document
// does not fill the disk.
func copyStream(ctx context.Context, name string, in io.Reader, tmp *os.File, maxForeign, maxArchive int64) error {
	stream := bufio.NewReaderSize(in, sniffSize)
	head, err := stream.Peek(sniffSize)
	switch {
	case err != nil && !errors.Is(err, io.EOF): // returned below
	case !isArchive(head):
		_, err = io.Copy(tmp, io.LimitReader(stream, maxForeign+1)) // readRecorded rejects the additional byte
	default:
		err = history.Scan(name, io.TeeReader(stream, tmp), func(history.DocumentInfo, []byte) error {
			size, err := tmp.Seek(0, io.SeekCurrent)
			if err != nil {
				return err
			}
			if size > maxArchive {
				return tooLarge(name, maxArchive, "save it to a file and import that")
			}
			return ctx.Err()
		})
	}
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) { // without the path of tmp
		return fmt.Errorf("read %s: %w", name, pathErr.Err)
	}
	return err
}

func tooLarge(name string, maxBytes int64, hint string) error {
	return cmdenv.Usage(fmt.Sprintf("%s is larger than %d MiB", name, maxBytes>>20), hint)
}

// openArchives opens files, and converts those of other tools to archives. The name - means stdin.
// The caller must call closeAll even if there is an error.
func openArchives(ctx context.Context, env cmdenv.Env, files []string) (sources []source, closeAll func(), err error) {
	var cleanups []func()
	addCleanup := func(f func()) { cleanups = append(cleanups, f) }
	closeAll = func() {
		for _, f := range slices.Backward(cleanups) {
			f()
		}
	}
	for _, name := range files {
		s := source{name: name}
		stream := env.In // nil if the file can be read repeatedly
		if name == "-" {
			s.name = "<stdin>"
		} else {
			f, isRegular, err := openFile(name)
			if err != nil {
				return nil, closeAll, err
			}
			addCleanup(func() { f.Close() })
			if stream = f; isRegular {
				s.file, stream = f, nil
			}
		}
		if stream != nil {
			tmp, remove, err := machine.TempFile("import")
			if err != nil {
				return nil, closeAll, err
			}
			addCleanup(remove)
			if err := copyStream(ctx, s.name, stream, tmp, history.MaxBytes, maxCopied); err != nil {
				return nil, closeAll, err
			}
			s.file = tmp
		}
		if err := s.readRecorded(addCleanup, env.Now()); err != nil {
			return nil, closeAll, err
		}
		sources = append(sources, s)
	}
	return sources, closeAll, nil
}

// openFile opens a file to import. A file that is not regular, such as a pipe, can be read only
// once.
func openFile(name string) (f *os.File, isRegular bool, err error) {
	f, err = os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, cmdenv.Usage("no file "+name, "what tare history export wrote, or a result.json")
	}
	if err != nil {
		return nil, false, cmdenv.Usage(fmt.Sprintf("cannot read %s: %v", name, cmdenv.Cause(err)), "")
	}
	info, err := f.Stat()
	switch {
	case err != nil:
		err = fmt.Errorf("cannot read %s: %w", name, cmdenv.Cause(err))
	case info.IsDir():
		err = cmdenv.Usage("cannot read "+name+": it is a directory", "name a file; a run's is its result.json")
	default:
		return f, info.Mode().IsRegular(), nil
	}
	f.Close()
	return nil, false, err
}
