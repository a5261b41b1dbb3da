package grpccall

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/reporter"
	_ "google.golang.org/genproto/googleapis/api/annotations" // google/api/*.proto need no file
	_ "google.golang.org/genproto/googleapis/api/httpbody"
	_ "google.golang.org/genproto/googleapis/rpc/code"
	_ "google.golang.org/genproto/googleapis/rpc/errdetails"
	_ "google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
)

// Bounds of what is compiled.
const (
	mostSource  = 16 << 20 // bytes of one file
	mostErrors  = 10       // that are listed
	mostCounted = 100      // beside those: the compiler's time grows with their square
)

// SourceError is what is wrong with files of protocol buffers: lines that begin
// with file:line:col.
type SourceError struct {
	Lines []string // never empty
	More  int      // that are not listed

	Missing bool // an import is not there
}

// Error is the first of them.
func (e *SourceError) Error() string {
	if n := len(e.Lines) - 1 + e.More; n > 0 {
		return fmt.Sprintf("%s (and %d more)", e.Lines[0], n)
	}
	return e.Lines[0]
}

// Load compiles a file of protocol buffers, which imports from its own directory
// and from the ones given. google/protobuf, google/api and google/rpc need no file.
func Load(ctx context.Context, file string, imports []string) (protoreflect.FileDescriptor, error) {
	dirs := append(slices.Clone(imports), filepath.Dir(file))
	name := filepath.Base(file)
	for _, dir := range imports { // what others import it as, where one of them has it
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
			break
		}
	}
	wrong := &SourceError{}
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			&protocompile.SourceResolver{ImportPaths: dirs, Accessor: opener()},
			protocompile.ResolverFunc(linked),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
		Reporter: reporter.NewReporter(func(err reporter.ErrorWithPos) error {
			wrong.add(err, name, file, dirs)
			if wrong.More == mostCounted {
				return err
			}
			return nil
		}, nil),
	}
	files, err := c.Compile(ctx, name)
	if missing := reporter.ErrorWithPos(nil); errors.As(err, &missing) { // an import that is not there is not reported
		wrong.add(missing, name, file, dirs)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(wrong.Lines) > 0:
		return nil, wrong
	case err != nil:
		return nil, errors.New(reason(err, dirs))
	}
	return files[0], nil
}

// add lists an error, whose place may be in the file that is called name among its
// imports.
func (e *SourceError) add(err reporter.ErrorWithPos, name, file string, dirs []string) {
	e.Missing = e.Missing || errors.Is(err, fs.ErrNotExist)
	at := err.GetPosition()
	if at.Filename == name {
		at.Filename = file
	}
	line := fmt.Sprintf("%s: %s", at, reason(err.Unwrap(), dirs))
	switch {
	case slices.Contains(e.Lines, line):
	case len(e.Lines) == mostErrors:
		e.More++
	default:
		e.Lines = append(e.Lines, line)
	}
}

// reason is why something failed. Of an import that is not there it says where it
// was looked for.
func reason(err error, dirs []string) string {
	var open *fs.PathError
	text := strings.Replace(err.Error(), "unexpected $end", "unexpected end of file", 1)
	if !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &open) {
		return text
	}
	what := open.Path
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, what); err == nil && filepath.IsLocal(rel) {
			what = filepath.ToSlash(rel)
			break
		}
	}
	return fmt.Sprintf("there is no %s in %s", what, strings.Join(dirs, ", "))
}

// linked finds what is registered in this program.
func linked(path string) (protocompile.SearchResult, error) {
	f, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Desc: f}, nil
}

// opener opens sources, within bounds.
func opener() func(string) (io.ReadCloser, error) {
	var opened atomic.Int64
	return func(path string) (io.ReadCloser, error) {
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return nil, err
		case !info.Mode().IsRegular():
			return nil, fmt.Errorf("%s is not a file", path)
		case info.Size() > mostSource:
			return nil, fmt.Errorf("%s has more than %d MB", path, mostSource>>20)
		case opened.Add(1) > mostFiles:
			return nil, fmt.Errorf("more than %d files are imported", mostFiles)
		}
		return os.Open(path)
	}
}
