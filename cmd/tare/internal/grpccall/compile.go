package grpccall

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

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

// Bounds of what is reported.
const (
	mostErrors  = 10  // that are listed
	mostCounted = 100 // beside those: the compiler's time grows with their square
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
	name := filepath.Base(file)
	for _, dir := range imports { // what others import it as, where one of them has it
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
			break
		}
	}
	from := newSources(name, file, imports)
	wrong := &SourceError{}
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			from,
			protocompile.ResolverFunc(linked),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
		Reporter: reporter.NewReporter(func(err reporter.ErrorWithPos) error {
			wrong.add(err, from)
			if wrong.More == mostCounted {
				return err
			}
			return nil
		}, nil),
	}
	files, err := c.Compile(ctx, name)
	if missing := reporter.ErrorWithPos(nil); errors.As(err, &missing) { // an import that is not there is not reported
		wrong.add(missing, from)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(wrong.Lines) > 0:
		return nil, wrong
	case err != nil:
		return nil, errors.New(reason(err))
	}
	return files[0], nil
}

// add lists an error. It names the file that was opened, which a user can open too,
// and not the path by which others import it.
func (e *SourceError) add(err reporter.ErrorWithPos, from *sources) {
	e.Missing = e.Missing || errors.Is(err, fs.ErrNotExist)
	at := err.GetPosition()
	at.Filename = from.fileOf(at.Filename)
	line := fmt.Sprintf("%s: %s", at, reason(err.Unwrap()))
	switch {
	case slices.Contains(e.Lines, line):
	case len(e.Lines) == mostErrors:
		e.More++
	default:
		e.Lines = append(e.Lines, line)
	}
}

// reason returns why something failed.
func reason(err error) string {
	var missing *missingError
	var unread *fs.PathError
	switch {
	case errors.As(err, &missing):
		return missing.Error()
	case errors.As(err, &unread):
		return fmt.Sprintf("cannot read %s: %v", unread.Path, unread.Err)
	}
	return strings.Replace(err.Error(), "unexpected $end", "unexpected end of file", 1)
}

// linked finds what is registered in this program.
func linked(path string) (protocompile.SearchResult, error) {
	f, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Desc: f}, nil
}
