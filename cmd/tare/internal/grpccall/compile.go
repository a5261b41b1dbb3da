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

const (
	maxListed   = 10  // listed errors
	maxUnlisted = 100 // further errors: the compiler's time grows with their square
)

// SourceError holds the errors of protocol buffer files.
type SourceError struct {
	Lines   []string // errors, which begin with file:line:col; never empty
	More    int      // number of errors that are not in Lines
	Missing bool     // an imported file does not exist
}

// Error returns the first line and the number of others.
func (e *SourceError) Error() string {
	if n := len(e.Lines) - 1 + e.More; n > 0 {
		return fmt.Sprintf("%s (and %d more)", e.Lines[0], n)
	}
	return e.Lines[0]
}

// Load compiles a protocol buffer file. Imports come from its directory and from imports. google/protobuf,
// google/api and google/rpc are built in.
func Load(ctx context.Context, file string, imports []string) (protoreflect.FileDescriptor, error) {
	name := filepath.Base(file)
	for _, dir := range imports { // other files import file by its path below dir
		if rel, err := filepath.Rel(dir, file); err == nil && filepath.IsLocal(rel) {
			name = filepath.ToSlash(rel)
			break
		}
	}
	src := newSources(name, file, imports)
	failure := &SourceError{}
	c := protocompile.Compiler{
		Resolver: protocompile.WithStandardImports(protocompile.CompositeResolver{
			src,
			protocompile.ResolverFunc(findLinked),
		}),
		SourceInfoMode: protocompile.SourceInfoStandard,
		Reporter: reporter.NewReporter(func(err reporter.ErrorWithPos) error {
			failure.addError(err, src)
			if failure.More == maxUnlisted {
				return err // ends the compilation
			}
			return nil
		}, nil),
	}
	files, err := c.Compile(ctx, name)
	if missing := reporter.ErrorWithPos(nil); errors.As(err, &missing) { // the reporter does not get missing imports
		failure.addError(missing, src)
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case len(failure.Lines) > 0:
		return nil, failure
	case err != nil:
		return nil, errors.New(formatReason(err))
	}
	return files[0], nil
}

// addError adds an error, once. Its line begins with the path of the opened file, not the import path.
func (e *SourceError) addError(err reporter.ErrorWithPos, src *sources) {
	e.Missing = e.Missing || errors.Is(err, fs.ErrNotExist)
	position := err.GetPosition()
	position.Filename = src.fileOf(position.Filename)
	line := fmt.Sprintf("%s: %s", position, formatReason(err.Unwrap()))
	switch {
	case slices.Contains(e.Lines, line): // listed already
	case len(e.Lines) == maxListed:
		e.More++
	default:
		e.Lines = append(e.Lines, line)
	}
}

// formatReason returns the text of an error without the prefixes of the compiler.
func formatReason(err error) string {
	var missing *missingError
	var unreadable *fs.PathError
	switch {
	case errors.As(err, &missing):
		return missing.Error()
	case errors.As(err, &unreadable):
		return fmt.Sprintf("cannot read %s: %v", unreadable.Path, unreadable.Err)
	}
	return strings.Replace(err.Error(), "unexpected $end", "unexpected end of file", 1)
}

// findLinked finds files with code in this program, such as google/api/http.proto.
func findLinked(path string) (protocompile.SearchResult, error) {
	f, err := protoregistry.GlobalFiles.FindFileByPath(path)
	if err != nil {
		return protocompile.SearchResult{}, err
	}
	return protocompile.SearchResult{Desc: f}, nil
}
