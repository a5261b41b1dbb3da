package traffic

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/lazyregexp"
	"github.com/tarebench/tare/load"
)

// eachLine calls read with each line that is not empty, until the feed reaches a bound. It records long
// or invalid lines as broken.
func (f *Feed) eachLine(r io.Reader, max int, read func(n int, line string) error) error {
	b := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, isLong, err := readLine(b, max)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		if f.reachesBound() {
			return nil
		}
		if isLong {
			err = fmt.Errorf("longer than %d bytes", max)
		} else {
			err = read(n, line)
		}
		if err != nil {
			f.recordBroken(n, "", err)
		}
	}
}

// readLine reads a line. Of a longer one, it returns the first max bytes and true.
func readLine(b *bufio.Reader, max int) (line string, isLong bool, err error) {
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

func (f *Feed) readLog(r io.Reader) error {
	f.fullSeconds = true
	var times clock
	stored := map[string]string{} // each method and path, stored once because logs repeat them
	return f.eachLine(r, maxLine, func(n int, line string) error {
		q, recorded, err := parseLogLine(line)
		if err != nil {
			return err
		}
		q.Path = f.removeQuerySecrets(q.Path)
		for _, text := range []*string{&q.Method, &q.Path} {
			known, ok := stored[*text]
			if ok {
				f.size -= len(known) // addRequest counts the bytes again
			} else {
				known = strings.Clone(*text)
				stored[known] = known
			}
			*text = known
		}
		f.addTimed(q, &times, recorded, nil, n, "")
		return nil
	})
}

// stampLayout is the layout of times in the common log format.
const stampLayout = "02/Jan/2006:15:04:05 -0700"

// Parts of stamp: 02/Jan/2006 and 15:04:05 -0700.
const (
	stampDate = `[0-3][0-9]/[A-Z][a-z]{2}/[0-9]{4}`
	stampTime = `[0-9]{2}:[0-9]{2}:[0-9]{2} [+-][0-9]{4}`
)

// stamp matches `[02/Jan/2006:15:04:05 -0700] "` in a line of an access log. The group is the time. No
// other format has such a text.
var stamp = lazyregexp.New(`(?:^| )\[(` + stampDate + `:` + stampTime + `)\] "`)

// parseLogLine parses a line of the common log format:
//
//	host ident user [time] "METHOD target HTTP/1.1" status bytes
//
// There may be other fields before the host and after the bytes, such as the user agent.
func parseLogLine(line string) (q load.Request, recorded time.Time, err error) {
	m := stamp.FindStringSubmatchIndex(line)
	if m == nil {
		return q, recorded, errors.New(`not host ident user [time] "request" status bytes`)
	}
	stampText, rest := line[m[2]:m[3]], line[m[1]:]
	if recorded, err = time.Parse(stampLayout, stampText); err != nil {
		return q, recorded, fmt.Errorf("the time %q is not one like %s", stampText, stampLayout)
	}
	end := findQuote(rest)
	if end < 0 {
		return q, recorded, errors.New("the request has no closing quotation mark")
	}
	fields := strings.Fields(rest[end+1:])
	isStatus := func(s string) bool { // Traefik writes - if it got no response
		return s == "-" || len(s) == 3 && strings.Trim(s, "0123456789") == ""
	}
	hasStatus := len(fields) >= 2 && isStatus(fields[0])
	if !hasStatus {
		return q, recorded, errors.New("no status and bytes after the request")
	}
	if rest[:end] == "-" || end == 0 {
		return q, recorded, errors.New("no request: the client sent none")
	}
	request, err := unescapeLog(rest[:end])
	if err != nil {
		return q, recorded, err
	}
	words := strings.Split(request, " ")
	if len(words) != 3 || !strings.HasPrefix(words[2], "HTTP/") {
		return q, recorded, fmt.Errorf("%q is not a request line: METHOD target HTTP/version", request)
	}
	q.Method = words[0]
	if q.Path, err = loggedTarget(q.Method, words[1]); err == nil {
		err = load.CheckRequest(q)
	}
	return q, recorded, err
}

// findQuote finds the first quotation mark that is not escaped, or -1.
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

// unescapeLog decodes the escapes of nginx and Apache.
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
		// values has the bytes for the letters in escapes, in the same order; x begins \xHH.
		const escapes, values = `"\nrtbvfx`, "\"\\\n\r\t\b\v\f"
		i := strings.IndexByte(escapes, (rest + " ")[0]) // after a backslash at the end, i is -1
		switch {
		case i < 0:
			return "", fmt.Errorf("%q has an escape that neither nginx nor Apache writes", text)
		case i < len(values):
			out, rest = append(out, values[i]), rest[1:]
		default: // \xHH
			b, err := strconv.ParseUint(rest[1:min(3, len(rest))], 16, 8)
			if err != nil || len(rest) < 3 {
				return "", fmt.Errorf(`%q has a \x without two hexadecimal digits`, text)
			}
			out, rest = append(out, byte(b)), rest[3:]
		}
	}
	return string(out), nil
}

// loggedTarget returns the path and query of the target of a logged request. The target is a path, a
// URL, or * in a request with the method OPTIONS.
func loggedTarget(method, target string) (string, error) {
	if strings.ContainsFunc(target, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return "", fmt.Errorf("the target %q has a control character", target)
	}
	if target == "*" && method == "OPTIONS" || method == "CONNECT" { // CheckRequest rejects CONNECT
		return target, nil
	}
	return pathOf(target)
}

// pathOf returns the path and query of a path or URL. It percent-encodes only bytes that are invalid in
// a request line.
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

// readCaddy reads the log of the web server Caddy, one JSON object per line.
func (f *Feed) readCaddy(r io.Reader) error {
	var times clock
	return f.eachLine(r, maxLine, func(n int, line string) error {
		var e struct {
			Msg     string `json:"msg"`
			TS      any    `json:"ts"`
			Request *struct {
				Method  string              `json:"method"`
				URI     string              `json:"uri"`
				Headers map[string][]string `json:"headers"`
			} `json:"request"`
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			return fmt.Errorf("not a line of Caddy's log: %w", plainError(err))
		}
		// A line about an error repeats the request of another line.
		if e.Request == nil || e.Msg != "handled request" {
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
		q.Path = f.removeQuerySecrets(q.Path)
		for _, name := range slices.Sorted(maps.Keys(e.Request.Headers)) {
			for _, value := range e.Request.Headers[name] {
				if value == "REDACTED" { // Caddy has removed a secret
					f.Secrets++
					continue
				}
				f.addHeader(&q, name, value)
			}
		}
		if err := load.CheckRequest(q); err != nil {
			return err
		}
		recorded, err := parseCaddyTime(e.TS)
		f.addTimed(q, &times, recorded, err, n, "")
		return nil
	})
}

// parseCaddyTime parses seconds since 1970 or a text of RFC 3339.
func parseCaddyTime(ts any) (time.Time, error) {
	const maxSeconds = 1e11 // year 5138; greater values are in milliseconds or nanoseconds
	switch ts := ts.(type) {
	case float64:
		if ts < maxSeconds {
			return time.UnixMicro(int64(ts * 1e6)), nil
		}
	case string:
		if t, err := time.Parse(time.RFC3339Nano, ts); err == nil {
			return t, nil
		}
	}
	return time.Time{}, fmt.Errorf("ts %v is neither in seconds nor of RFC 3339", ts)
}

// connectionHeaders has the headers that belong to a connection. The load generator sets them itself.
var connectionHeaders = []string{
	"connection", "content-length", "expect", "host", "http2-settings", "keep-alive",
	"proxy-connection", "te", "transfer-encoding", "upgrade",
}

// addHeader omits headers of the connection, secret ones, and invalid ones. It counts the last two.
func (f *Feed) addHeader(q *load.Request, name, value string) {
	lower := strings.ToLower(name)
	switch {
	case strings.HasPrefix(lower, ":"), slices.Contains(connectionHeaders, lower):
		// The header is omitted.
	case load.CheckRequest(load.Request{Method: "GET", Header: [][2]string{{name, ""}}}) != nil:
		f.Nameless++
	case f.countSecret(lower):
		// The header is omitted.
	case lower == "referer":
		q.Header = append(q.Header, [2]string{name, f.removeQuerySecrets(value)})
	default:
		q.Header = append(q.Header, [2]string{name, value})
	}
}
