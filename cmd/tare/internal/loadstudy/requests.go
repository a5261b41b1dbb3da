// Package loadstudy makes what servers of the user are loaded with: targets,
// requests, and the sources of a comparison.
package loadstudy

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/internal/whole"
	"github.com/tarebench/tare/load"
)

// Bounds of what is sent.
const (
	mostRequests = 100_000
	mostBytes    = 1 << 30 // of all bodies, and of a file
)

// Requests is what the flags say about the requests.
type Requests struct {
	Method  string
	Headers []string // Name: value
	Body    string   // text, or @FILE; @- is stdin
	DataDir string
	Feed    string
	Mix     []string // METHOD PATH=WEIGHT
	Secrets bool     // values with secret names in recorded requests are sent, too

	HasBody bool // --body was given: an empty one is one
}

// List makes them, for a URL with that path and those credentials.
func (a Requests) List(t Target, stdin io.Reader) ([]load.Request, error) {
	headers, err := a.Header(t.Auth)
	if err != nil {
		return nil, err
	}
	bodies, err := a.bodies(stdin)
	if err != nil {
		return nil, err
	}
	var list []load.Request
	switch {
	case a.Feed != "":
		list, err = a.fed(t.Path, stdin)
	case len(a.Mix) > 0:
		list, err = a.mixed(bodies)
	default:
		for _, body := range bodies {
			list = append(list, load.Request{Method: a.verb(len(body) > 0 || a.HasBody), Path: t.Path, Body: body})
		}
	}
	if err != nil {
		return nil, err
	}
	for i := range list {
		list[i].Header = append(slices.Clone(headers), list[i].Header...)
	}
	return list, nil
}

// verb is the method of a request that has a body or has none.
func (a Requests) verb(body bool) string {
	switch {
	case a.Method != "":
		return a.Method
	case body:
		return "POST"
	}
	return "GET"
}

// Header reads the headers of every request.
func (a Requests) Header(auth string) ([][2]string, error) {
	var list [][2]string
	for _, h := range a.Headers {
		name, value, ok := strings.Cut(h, ":")
		if !ok || !IsToken(name) || strings.ContainsAny(value, "\r\n\x00") {
			return nil, cmdenv.Usage(fmt.Sprintf("-H %q is not a header", h), "e.g. -H 'Accept: application/json'")
		}
		list = append(list, [2]string{name, strings.TrimSpace(value)})
	}
	if auth != "" {
		list = append(list, [2]string{"Authorization", auth})
	}
	return list, nil
}

// bodies are those that requests take in turn; one without any where there is
// none.
func (a Requests) bodies(stdin io.Reader) ([][]byte, error) {
	file, isFile := strings.CutPrefix(a.Body, "@")
	switch {
	case a.DataDir != "":
		return bodiesIn(a.DataDir)
	case !a.HasBody:
		return [][]byte{nil}, nil
	case !isFile:
		return [][]byte{[]byte(a.Body)}, nil
	}
	body, err := readAll(file, stdin)
	if err != nil {
		return nil, cmdenv.Usage(fmt.Sprintf("--body %s: %v", a.Body, cmdenv.Cause(err)), "@FILE is a file, @- stdin, anything else the text itself")
	}
	return [][]byte{body}, nil
}

// bodiesIn reads the files of a directory, by name; directories and names that
// begin with a dot are passed over.
func bodiesIn(dir string) ([][]byte, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, cmdenv.Usage(fmt.Sprintf("--data-dir %s: %v", dir, cmdenv.Cause(err)), "")
	}
	var bodies [][]byte
	sum := 0
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		body, err := whole.ReadStart(filepath.Join(dir, e.Name()), int64(mostBytes-sum))
		if err != nil {
			return nil, cmdenv.Usage(fmt.Sprintf("--data-dir %s: %s: %v", dir, e.Name(), cmdenv.Cause(err)), "")
		}
		bodies = append(bodies, body)
		if sum += len(body); len(bodies) > mostRequests || sum > mostBytes {
			return nil, cmdenv.Usage(fmt.Sprintf("--data-dir %s holds more than %d files or %d bytes", dir, mostRequests, mostBytes), "")
		}
	}
	if len(bodies) == 0 {
		return nil, cmdenv.Usage(fmt.Sprintf("--data-dir %s holds no files", dir), "one body per file")
	}
	return bodies, nil
}

// readAll reads a file, or stdin for -.
func readAll(file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		return cmdenv.ReadAtMost(stdin, mostBytes)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return cmdenv.ReadAtMost(f, mostBytes)
}

// fed reads one request from each line of a file: an object with a path that
// begins with a slash is a whole request, and any other line is the body of one
// to path. Empty lines do not count.
func (a Requests) fed(path string, stdin io.Reader) ([]load.Request, error) {
	src, err := readAll(a.Feed, stdin)
	if err != nil {
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s: %v", a.Feed, cmdenv.Cause(err)), "a line for each request")
	}
	var list []load.Request
	n := 0
	for line := range bytes.Lines(src) {
		n++
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			continue
		}
		r, what := a.line(line, path)
		if what != "" {
			return nil, cmdenv.Usage(fmt.Sprintf("%s:%d: %s", a.Feed, n, what), `a line is {"method":"POST","path":"/v1","header":{},"body":"base64"} or a body`)
		}
		if list = append(list, r); len(list) > mostRequests {
			return nil, cmdenv.Usage(fmt.Sprintf("--feed %s holds more than %d requests", a.Feed, mostRequests), "")
		}
	}
	if len(list) == 0 {
		return nil, cmdenv.Usage(fmt.Sprintf("--feed %s holds no requests", a.Feed), "a line for each request")
	}
	return list, nil
}

// line reads one line of a feed, or says what is wrong with it.
func (a Requests) line(line []byte, path string) (r load.Request, what string) {
	var probe struct {
		Path string `json:"path"`
	}
	if json.Unmarshal(line, &probe) != nil || !strings.HasPrefix(probe.Path, "/") {
		return load.Request{Method: a.verb(true), Path: path, Body: bytes.Clone(line)}, ""
	}
	var q wire.HTTPRequest
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&q); err != nil {
		return r, "not a request: " + format.Line(err.Error(), 0)
	}
	if q.Method == "" {
		q.Method = a.verb(len(q.Body) > 0)
	}
	if what := checkRequest(q.Method, q.Path); what != "" {
		return r, what
	}
	r = load.Request{Method: q.Method, Path: q.Path, Body: q.Body}
	for _, name := range slices.Sorted(maps.Keys(q.Header)) {
		if !IsToken(name) || strings.ContainsAny(q.Header[name], "\r\n\x00") {
			return r, fmt.Sprintf("%q is not a header", name)
		}
		r.Header = append(r.Header, [2]string{name, q.Header[name]})
	}
	return r, ""
}

// mixed makes a rotation of requests in which each has its weight, as evenly
// as can be: before each place every request gains its weight, the one that has
// most takes the place and pays the sum of all.
func (a Requests) mixed(bodies [][]byte) ([]load.Request, error) {
	type part struct {
		load.Request
		weight, has int
	}
	var parts []part
	sum := 0
	for _, text := range a.Mix {
		r, weight, what := a.part(text)
		if sum += weight; what == "" && sum > mostRequests {
			what = fmt.Sprintf("the weights add up to more than %d", mostRequests)
		}
		if what != "" {
			return nil, cmdenv.Usage(fmt.Sprintf("--mix %q: %s", text, what), "METHOD PATH=WEIGHT, e.g. --mix 'GET /a=3' --mix 'POST /b?x=1=1'")
		}
		if takesBody(r.Method) {
			r.Body = bodies[len(parts)%len(bodies)]
		}
		parts = append(parts, part{r, weight, 0})
	}
	var list []load.Request
	for range sum {
		most := 0
		for i := range parts {
			if parts[i].has += parts[i].weight; parts[i].has > parts[most].has {
				most = i
			}
		}
		parts[most].has -= sum
		list = append(list, parts[most].Request)
	}
	return list, nil
}

// part reads METHOD PATH=WEIGHT; the weight is what follows the last equals
// sign.
func (a Requests) part(text string) (r load.Request, weight int, what string) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return r, 0, "no weight"
	}
	weight, err := strconv.Atoi(text[at+1:])
	if err != nil || weight < 1 || weight > mostRequests {
		return r, 0, fmt.Sprintf("%q is not a weight of 1 or more", text[at+1:])
	}
	fields := strings.Fields(text[:at])
	switch len(fields) {
	case 1:
		r = load.Request{Method: a.verb(false), Path: fields[0]}
	case 2:
		r = load.Request{Method: fields[0], Path: fields[1]}
	default:
		return r, 0, "not a method and a path"
	}
	return r, weight, checkRequest(r.Method, r.Path)
}

// takesBody reports whether requests of a method carry a body as a rule.
func takesBody(method string) bool { return slices.Contains([]string{"POST", "PUT", "PATCH"}, method) }

// checkRequest says what keeps a request from being one on the wire.
func checkRequest(method, path string) string {
	switch {
	case !IsToken(method):
		return fmt.Sprintf("%q is not a method", method)
	case !strings.HasPrefix(path, "/"):
		return fmt.Sprintf("the path %q does not begin with a slash", path)
	case strings.ContainsFunc(path, func(c rune) bool { return c <= ' ' || c == 0x7f }):
		return fmt.Sprintf("the path %q has a space or a control character in it", path)
	}
	return ""
}

// IsToken reports whether s is what HTTP calls a token (RFC 9110, 5.6.2).
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

// basic is the Authorization header of user and password in a URL.
func basic(u *url.Userinfo) string {
	password, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
}

// WriteRequests writes one request a line.
func WriteRequests(file string, requests []load.Request) error {
	f, err := whole.Create(whole.System{}, file)
	if err != nil {
		return fmt.Errorf("write the requests: %w", err)
	}
	defer f.Discard()
	enc := json.NewEncoder(f)
	enc.SetEscapeHTML(false)
	for _, r := range requests {
		q := wire.HTTPRequest{Method: r.Method, Path: r.Path, Body: r.Body}
		for _, h := range r.Header {
			if q.Header == nil {
				q.Header = map[string]string{}
			}
			if before, again := q.Header[h[0]]; again {
				h[1] = before + ", " + h[1]
			}
			q.Header[h[0]] = h[1]
		}
		if err == nil {
			err = enc.Encode(q)
		}
	}
	if err == nil {
		err = f.Keep(0o600) // headers hold what logs in
	}
	if err != nil {
		return fmt.Errorf("write the requests: %w", err)
	}
	return nil
}
