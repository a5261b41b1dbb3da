// Package loadstudy reads the flags of tare load, which sends requests to the user's servers. The flags
// define the servers, such as :8080/users, and the requests, such as --mix 'GET /a=3' --mix 'GET /b=1'.
// For several servers it provides contenders to compare.
package loadstudy

import (
	"encoding/base64"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/traffic"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/load"
)

// Limits of the requests that flags define.
const (
	maxRequests = 100_000
	maxBytes    = 1 << 30 // bytes of all bodies together, and of a file
)

// Requests contains the flags that define the requests.
type Requests struct {
	Method  string
	Headers []string // Name: value
	Body    string   // text, or @FILE; @- is stdin
	DataDir string   // directory with a body in each file
	Feed    string   // file of requests; - is stdin
	Mix     []string // METHOD PATH=WEIGHT
	Secrets bool     // also send recorded values whose names are those of secrets, such as Cookie

	FeedBodies string // file with a body on each line; - is stdin
	HasBody    bool   // the user has set --body, possibly to ""
}

// List returns the requests to server t, in the order in which they are sent.
func (a Requests) List(t Target, stdin io.Reader) (*traffic.Feed, error) {
	headers, err := a.Header(t.Auth)
	if err != nil {
		return nil, err
	}
	f := &traffic.Feed{}
	if a.Feed != "" {
		f, err = a.readFeed(stdin)
	} else {
		f.Requests, err = a.listFromFlags(t.Path, stdin)
	}
	if err != nil {
		return nil, err
	}
	for i := range f.Requests {
		f.Requests[i].Header = append(slices.Clone(headers), f.Requests[i].Header...)
	}
	return f, nil
}

func (a Requests) listFromFlags(path string, stdin io.Reader) ([]load.Request, error) {
	bodies, err := a.readBodies(stdin)
	if err != nil {
		return nil, err
	}
	if len(a.Mix) > 0 {
		return a.buildMix(bodies)
	}
	var list []load.Request
	for _, body := range bodies {
		list = append(list, load.Request{Method: a.defaultMethod(len(body) > 0 || a.HasBody), Path: path, Body: body})
	}
	return list, nil
}

func (a Requests) defaultMethod(hasBody bool) string {
	switch {
	case a.Method != "":
		return a.Method
	case hasBody:
		return "POST"
	}
	return "GET"
}

// Header returns the headers that every request has. Unless auth is "", they contain Authorization with
// this value.
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

// readBodies returns the bodies that requests use in turn, or a single nil.
func (a Requests) readBodies(stdin io.Reader) ([][]byte, error) {
	file, isFile := strings.CutPrefix(a.Body, "@")
	switch {
	case a.DataDir != "":
		return readBodiesIn(a.DataDir)
	case a.FeedBodies != "":
		return a.readBodyLines(stdin)
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

// readBodiesIn returns the contents of the files in a directory, by name.
func readBodiesIn(dir string) ([][]byte, error) {
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
		body, err := atomicfile.ReadStart(filepath.Join(dir, e.Name()), int64(maxBytes-sum))
		if err != nil {
			return nil, cmdenv.Usage(fmt.Sprintf("--data-dir %s: %s: %v", dir, e.Name(), cmdenv.Cause(err)), "")
		}
		bodies = append(bodies, body)
		sum += len(body)
		if len(bodies) > maxRequests || sum > maxBytes {
			return nil, cmdenv.Usage(fmt.Sprintf("--data-dir %s holds more than %d files or %d bytes", dir, maxRequests, maxBytes), "")
		}
	}
	if len(bodies) == 0 {
		return nil, cmdenv.Usage(fmt.Sprintf("--data-dir %s holds no files", dir), "one body per file")
	}
	return bodies, nil
}

func readAll(file string, stdin io.Reader) ([]byte, error) {
	if file == "-" {
		return cmdenv.ReadAtMost(stdin, maxBytes)
	}
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return cmdenv.ReadAtMost(f, maxBytes)
}

// buildMix spreads the requests of --mix evenly: GET /a=2 and GET /b=1 become /a, /b, /a. The method is
// smooth weighted round-robin. For each place every request is credited its weight. The one with the
// most credit takes the place and pays the sum of weights.
func (a Requests) buildMix(bodies [][]byte) ([]load.Request, error) {
	type part struct {
		load.Request
		weight, credit int
	}
	var parts []part
	sum := 0
	for _, text := range a.Mix {
		r, weight, problem := a.parsePart(text)
		sum += weight
		if problem == "" && sum > maxRequests {
			problem = fmt.Sprintf("the weights add up to more than %d", maxRequests)
		}
		if problem != "" {
			return nil, cmdenv.Usage(fmt.Sprintf("--mix %q: %s", text, problem), "METHOD PATH=WEIGHT, e.g. --mix 'GET /a=3' --mix 'POST /b?x=1=1'")
		}
		if takesBody(r.Method) {
			r.Body = bodies[len(parts)%len(bodies)]
		}
		parts = append(parts, part{Request: r, weight: weight})
	}
	var list []load.Request
	for range sum {
		next := 0
		for i := range parts {
			parts[i].credit += parts[i].weight
			if parts[i].credit > parts[next].credit {
				next = i
			}
		}
		parts[next].credit -= sum
		list = append(list, parts[next].Request)
	}
	return list, nil
}

// parsePart parses a value of --mix, METHOD PATH=WEIGHT.
func (a Requests) parsePart(text string) (r load.Request, weight int, problem string) {
	equals := strings.LastIndexByte(text, '=')
	if equals < 0 {
		return r, 0, "no weight"
	}
	weight, err := strconv.Atoi(text[equals+1:])
	if err != nil || weight < 1 || weight > maxRequests {
		return r, 0, fmt.Sprintf("%q is not a weight of 1 or more", text[equals+1:])
	}
	fields := strings.Fields(text[:equals])
	switch len(fields) {
	case 1:
		r = load.Request{Method: a.defaultMethod(false), Path: fields[0]}
	case 2:
		r = load.Request{Method: fields[0], Path: fields[1]}
	default:
		return r, 0, "not a method and a path"
	}
	if err := load.CheckRequest(r); err != nil {
		return r, 0, err.Error()
	}
	return r, weight, ""
}

func takesBody(method string) bool { return slices.Contains([]string{"POST", "PUT", "PATCH"}, method) }

// IsToken reports whether s is a token of HTTP (RFC 9110, 5.6.2).
func IsToken(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c <= ' ' || c >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, c)
	})
}

func basicAuth(u *url.Userinfo) string {
	password, _ := u.Password()
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(u.Username()+":"+password))
}

// WriteRequests writes requests to a file, one on each line, which replaces an old file only if all
// were written. Only the owner can read it.
func WriteRequests(file string, requests []load.Request) error {
	f, err := atomicfile.Create(atomicfile.System{}, file)
	if err != nil {
		return fmt.Errorf("write the requests: %w", err)
	}
	defer f.Discard()
	for _, r := range requests {
		if err == nil {
			err = traffic.WriteLine(f, r)
		}
	}
	if err == nil {
		err = f.Keep(0o600) // headers can contain credentials
	}
	if err != nil {
		return fmt.Errorf("write the requests: %w", err)
	}
	return nil
}
