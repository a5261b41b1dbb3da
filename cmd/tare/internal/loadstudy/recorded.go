package loadstudy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/format"
)

// feedFormats names what --feed reads.
const feedFormats = "read are access logs in the common and the combined format, HAR, OpenAPI documents, and a line of JSON or a body for each request"

// Recorded reads the feed where it is an access log, a HAR or an OpenAPI document;
// nil: it is none of them. Requests go to the target, whatever host the file names.
func (a Requests) Recorded(t Target) (*traffic.Feed, error) {
	if a.Feed == "" || a.Feed == "-" {
		return nil, nil
	}
	file, err := os.Open(a.Feed)
	if err != nil {
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s: %v", a.Feed, cmdenv.Cause(err)), "a line for each request")
	}
	defer file.Close()
	r := bufio.NewReaderSize(file, 64<<10)
	begin, err := r.Peek(4 << 10)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s: %v", a.Feed, cmdenv.Cause(err)), "")
	}
	kind := traffic.Sniff(a.Feed, begin)
	if kind == traffic.Unknown {
		return nil, nil
	}
	headers, err := a.Header(t.Auth)
	if err != nil {
		return nil, err
	}
	f, err := traffic.Read(kind, a.Feed, r, a.Secrets)
	if wrong := (*yamlfile.Error)(nil); errors.As(err, &wrong) { // it names the file
		return nil, cmdenv.Usage("--feed "+wrong.Error(), "")
	}
	if err != nil {
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s: %s", a.Feed, format.Line(err.Error(), 0)), "")
	}
	if len(f.Requests) == 0 {
		if len(f.Broken) > 0 {
			return nil, cmdenv.Usage(fmt.Sprintf("--feed holds no request that can be sent: %s", f.Broken[0].In(a.Feed)), feedFormats)
		}
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s holds no requests", a.Feed), feedFormats)
	}
	for i := range f.Requests {
		f.Requests[i].Header = append(slices.Clone(headers), f.Requests[i].Header...)
	}
	return f, nil
}
