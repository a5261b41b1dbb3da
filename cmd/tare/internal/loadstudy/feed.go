package loadstudy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/textfile"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/cmd/tare/internal/yamlfile"
	"github.com/tarebench/tare/internal/format"
)

// A feed is a file of requests that the user gives to tare load, for example a HAR archive of a browser
// or lines of JSON. This file opens feeds and files of bodies.

const lineHint = `a line is {"method":"POST","path":"/v1","header":{},"body":"base64"}; --feed-bodies sends each line as a body`

// openText opens the file that a flag names as text, and decompresses it if necessary. The file "-"
// means stdin. The caller must call close unless there is an error.
func openText(flag, file string, stdin io.Reader) (text *textfile.File, close func() error, err error) {
	close = func() error { return nil }
	if file != "-" {
		f, err := os.Open(file)
		if err != nil {
			return nil, nil, fileError(flag, file, err)
		}
		stdin, close = f, f.Close
	}
	if text, err = textfile.Open(stdin); err != nil {
		return nil, nil, errors.Join(fileError(flag, file, err), close())
	}
	return text, close, nil
}

func fileError(flag, file string, err error) error {
	return cmdenv.Usage(fmt.Sprintf("%s %s: %s", flag, file, format.Line(cmdenv.Cause(err).Error(), 0)), "")
}

// readFeed reads the requests of --feed. It ignores hosts in the file: the
// user names the server.
func (a Requests) readFeed(stdin io.Reader) (*traffic.Feed, error) {
	text, close, err := openText("--feed", a.Feed, stdin)
	if err != nil {
		return nil, err
	}
	defer close()
	beginning, err := text.Peek(text.Size())
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fileError("--feed", a.Feed, err)
	}
	isCut := err == nil // the text is longer than beginning
	kind := traffic.Sniff(beginning, isCut)
	switch {
	case len(bytes.TrimSpace(beginning)) == 0:
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s holds no requests", a.Feed), traffic.Formats)
	case kind == traffic.Unknown:
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s has none of the formats that are read", a.Feed), traffic.Formats+"; --feed-bodies sends each line as a body")
	}
	f, err := traffic.Read(kind, a.Feed, text, a.Secrets)
	if yamlError := (*yamlfile.Error)(nil); errors.As(err, &yamlError) { // this error already names the file
		return nil, cmdenv.Usage("--feed "+yamlError.Error(), "")
	}
	if err != nil {
		return nil, fileError("--feed", a.Feed, err)
	}
	f.Unpacked = text.Found()
	switch { // of formats made for tare every line must be valid; recordings may have other entries
	case kind.IsTares() && f.Lost > 0:
		return nil, cmdenv.Usage(f.Broken[0].In(a.Feed), lineHint)
	case kind.IsTares() && f.More:
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s holds more than %d requests or %d bytes", a.Feed, len(f.Requests), maxBytes), "")
	case len(f.Requests) == 0 && f.Lost > 0:
		return nil, cmdenv.Usage("--feed holds no request that can be sent: "+f.Broken[0].In(a.Feed), "")
	case len(f.Requests) == 0:
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s is %s that holds no requests", a.Feed, kind), "")
	}
	for i := range f.Requests {
		if request := &f.Requests[i]; request.Method == "" {
			request.Method = a.defaultMethod(len(request.Body) > 0)
		}
	}
	return f, nil
}

func (a Requests) readBodyLines(stdin io.Reader) ([][]byte, error) {
	text, close, err := openText("--feed-bodies", a.FeedBodies, stdin)
	if err != nil {
		return nil, err
	}
	defer close()
	src, err := cmdenv.ReadAtMost(text, maxBytes)
	if err != nil {
		return nil, fileError("--feed-bodies", a.FeedBodies, err)
	}
	var bodies [][]byte
	for line := range bytes.Lines(src) {
		if line = bytes.TrimRight(line, "\r\n"); len(bytes.TrimSpace(line)) > 0 {
			bodies = append(bodies, line)
		}
	}
	switch {
	case len(bodies) == 0:
		return nil, cmdenv.Usage(fmt.Sprintf("--feed-bodies %s holds no lines", a.FeedBodies), "one body on each line")
	case len(bodies) > maxRequests:
		return nil, cmdenv.Usage(fmt.Sprintf("--feed-bodies %s holds more than %d lines", a.FeedBodies, maxRequests), "")
	}
	return bodies, nil
}
