package traffic

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/load"
)

// eachLine calls read with each non-empty line and its number, until the feed is full. Lines
// that are longer than max bytes or for which read fails are broken.
func (f *Feed) eachLine(r io.Reader, max int, read func(n int, line string) error) error {
	b := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, long, err := readLine(b, max)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if f.isFull() {
			return nil
		}
		if err = fmt.Errorf("longer than %d bytes", max); !long {
			err = read(n, line)
		}
		if err != nil {
			f.recordBroken(n, "", err)
		}
	}
}

// readLine reads a line, or the first max bytes of a longer one.
func readLine(b *bufio.Reader, max int) (line string, long bool, err error) {
	var out []byte
	for {
		part, err := b.ReadSlice('\n')
		out = append(out, part[:min(len(part), max-len(out))]...)
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err == io.EOF && len(out) > 0 {
			err = nil
		}
		return string(out), len(out) == max, err
	}
}

// readLog reads an access log in the common or the combined format.
func (f *Feed) readLog(r io.Reader) error {
	f.seconds = true
	var recorded clock
	same := map[string]string{} // methods and paths, each stored once
	return f.eachLine(r, maxLine, func(n int, line string) error {
		q, at, err := parseLogLine(line)
		if err != nil {
			return err
		}
		q.Path = f.publicQuery(q.Path)
		for _, text := range []*string{&q.Method, &q.Path} {
			known, ok := same[*text]
			if !ok {
				known = strings.Clone(*text)
				same[known] = known
			} else {
				f.size -= len(known)
			}
			*text = known
		}
		f.addTimed(q, &recorded, at, nil, n, "")
		return nil
	})
}

const stampLayout = "02/Jan/2006:15:04:05 -0700"

// stamp matches the time and the beginning of the request in a line, which identify
// an access log.
var stamp = regexp.MustCompile(`(?:^| )\[([0-3][0-9]/[A-Z][a-z]{2}/[0-9]{4}:[0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4})\] "`)

// parseLogLine parses a line of the common log format, host ident user [time] "METHOD target
// HTTP/1.1" status bytes. There may be other fields before the host and after the bytes: a
// virtual host, the referrer, the user agent.
func parseLogLine(line string) (q load.Request, at time.Time, err error) {
	place := stamp.FindStringSubmatchIndex(line)
	if place == nil {
		return q, at, errors.New(`not host ident user [time] "request" status bytes`)
	}
	if at, err = time.Parse(stampLayout, line[place[2]:place[3]]); err != nil {
		return q, at, fmt.Errorf("the time %q is not one like %s", line[place[2]:place[3]], stampLayout)
	}
	rest := line[place[1]:]
	end := findQuote(rest)
	if end < 0 {
		return q, at, errors.New("the request has no closing quotation mark")
	}
	if status := strings.Fields(rest[end+1:]); len(status) < 2 || len(status[0]) != 3 || strings.Trim(status[0], "0123456789") != "" {
		return q, at, errors.New("no status and bytes after the request")
	}
	if rest[:end] == "-" || end == 0 {
		return q, at, errors.New("no request: the client sent none")
	}
	request, err := unescapeLog(rest[:end])
	if err != nil {
		return q, at, err
	}
	words := strings.Split(request, " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/") {
		return q, at, fmt.Errorf("%q is not a request line: METHOD target HTTP/version", request)
	}
	q.Method = words[0]
	if q.Path, err = loggedTarget(q.Method, words[1]); err == nil {
		err = load.CheckRequest(q)
	}
	return q, at, err
}

// findQuote returns the index of the first quotation mark that is not escaped, or -1.
func findQuote(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

// unescapeLog decodes the escapes of nginx and Apache for quotation marks, backslashes and
// unprintable bytes.
func unescapeLog(text string) (string, error) {
	if !strings.Contains(text, `\`) {
		return text, nil
	}
	var out []byte
	for rest := text; rest != ""; {
		c := rest[0]
		if rest = rest[1:]; c != '\\' {
			out = append(out, c)
			continue
		}
		at := strings.IndexByte(`"\nrtbvfx`, (rest + " ")[0])
		switch {
		case at < 0:
			return "", fmt.Errorf("%q has an escape that neither nginx nor Apache writes", text)
		case at < 8:
			out, rest = append(out, "\"\\\n\r\t\b\v\f"[at]), rest[1:]
		default:
			b, err := strconv.ParseUint(rest[1:min(3, len(rest))], 16, 8)
			if err != nil || len(rest) < 3 {
				return "", fmt.Errorf(`%q has a \x without two hexadecimal digits`, text)
			}
			out, rest = append(out, byte(b)), rest[3:]
		}
	}
	return string(out), nil
}

// loggedTarget returns the path and query of a logged target, as the client sent it: a
// path, a URL, or the * of OPTIONS.
func loggedTarget(method, target string) (string, error) {
	if strings.ContainsFunc(target, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "", fmt.Errorf("the target %q has a control character", target)
	}
	if target == "*" && method == "OPTIONS" || method == "CONNECT" { // CheckRequest rejects CONNECT
		return target, nil
	}
	return pathOf(target)
}

// pathOf returns the path and query of a path or an HTTP URL of any host. It percent-encodes
// bytes that are invalid in a request line and leaves others, such as // and %zz.
func pathOf(text string) (string, error) {
	path := text
	if !strings.HasPrefix(text, "/") {
		scheme, rest, ok := strings.Cut(text, "://")
		if !ok || !isHTTP(scheme) {
			return "", fmt.Errorf("%q is neither a path nor an HTTP URL", text)
		}
		i := strings.IndexAny(rest+"?", "/?")
		if path = rest[i:]; !strings.HasPrefix(path, "/") {
			path = "/" + path
		}
	}
	var out strings.Builder
	for i := range len(path) {
		if c := path[i]; c <= ' ' || c >= 0x7f {
			fmt.Fprintf(&out, "%%%02X", c)
		} else {
			out.WriteByte(c)
		}
	}
	return out.String(), nil
}

func isHTTP(scheme string) bool {
	return strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https")
}

// readCaddy reads Caddy's access log in JSON, which has no bodies.
func (f *Feed) readCaddy(r io.Reader) error {
	var recorded clock
	return f.eachLine(r, maxLine, func(n int, line string) error {
		var e struct {
			Msg     string
			TS      any
			Request *struct {
				Method, URI string
				Headers     map[string][]string
			}
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return fmt.Errorf("not a line of Caddy's log: %w", err)
		}
		if e.Request == nil || e.Msg != "handled request" { // errors repeat the request
			f.countSkipped("other line")
			return nil
		}
		if strings.ContainsRune(e.Request.URI, '\uFFFD') {
			return fmt.Errorf("the log does not have all bytes of the target %q", e.Request.URI)
		}
		q := load.Request{Method: e.Request.Method}
		var err error
		if q.Path, err = loggedTarget(q.Method, e.Request.URI); err != nil {
			return err
		}
		q.Path = f.publicQuery(q.Path)
		for _, name := range slices.Sorted(maps.Keys(e.Request.Headers)) {
			for _, value := range e.Request.Headers[name] {
				if value == "REDACTED" { // by Caddy
					f.Secrets++
					continue
				}
				f.addHeader(&q, name, value)
			}
		}
		if err := load.CheckRequest(q); err != nil {
			return err
		}
		at, unread := parseCaddyTime(e.TS)
		f.addTimed(q, &recorded, at, unread, n, "")
		return nil
	})
}

// parseCaddyTime parses a time in seconds since 1970 or of RFC 3339.
func parseCaddyTime(ts any) (time.Time, error) {
	switch ts := ts.(type) {
	case float64:
		if ts < 1e11 { // otherwise it is in milliseconds or nanoseconds
			return time.UnixMicro(int64(ts * 1e6)), nil
		}
	case string:
		if at, err := time.Parse(time.RFC3339Nano, ts); err == nil {
			return at, nil
		}
	}
	return time.Time{}, fmt.Errorf("ts %v is neither in seconds nor of RFC 3339", ts)
}

// addHeader adds a recorded header to a request, unless it belongs to the connection or is
// withheld.
func (f *Feed) addHeader(q *load.Request, name, value string) {
	switch lower := strings.ToLower(name); {
	case strings.HasPrefix(lower, ":"):
	case slices.Contains([]string{"host", "content-length", "connection", "keep-alive", "transfer-encoding", "upgrade", "proxy-connection", "te", "expect", "http2-settings"}, lower):
	case f.isWithheld(lower):
	case lower == "referer":
		q.Header = append(q.Header, [2]string{name, f.publicQuery(value)})
	default:
		q.Header = append(q.Header, [2]string{name, value})
	}
}
