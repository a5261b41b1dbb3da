package mcp

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tarebench/tare/internal/format"
	"github.com/tarebench/tare/load/pace"
)

// The types below are the inputs of the tools. The functions measureX, readX and explainX plan: they check an
// input and convert it to a command line.

// Named is the input of explain.
type Named struct {
	Name string `json:"name" jsonschema:"e.g. control, wrong-answer, json-encode"`
}

// Listing is the input of results.
type Listing struct {
	Study string `json:"study,omitempty" jsonschema:"only runs of that study"`
	Run   string `json:"run,omitempty" jsonschema:"the run to read, as results lists them: STUDY/TIME-SEED"`
	Limit int    `json:"limit,omitempty" jsonschema:"number of runs, the newest; default 20, at most 100"`
}

// Sides is the input of gate_verdict.
type Sides struct {
	Run     string `json:"run,omitempty" jsonschema:"a stored run, as results lists them; nothing is measured"`
	Base    string `json:"base,omitempty" jsonschema:"revision to compare with"`
	Head    string `json:"head,omitempty" jsonschema:"revision that is judged; default: the working tree"`
	Changed bool   `json:"changed,omitempty" jsonschema:"only benchmarks that can reach what differs"`
}

// Bench is the input of bench.
type Bench struct {
	Base     string   `json:"base" jsonschema:"revision to compare with, e.g. HEAD~1"`
	Head     string   `json:"head,omitempty" jsonschema:"revision that is compared; default: the working tree"`
	Packages []string `json:"packages,omitempty" jsonschema:"as the go command takes them; default ./..."`
	Bench    string   `json:"bench,omitempty" jsonschema:"benchmarks that match this regular expression"`
	Changed  bool     `json:"changed,omitempty" jsonschema:"only benchmarks that can reach what differs"`
	Max      string   `json:"max,omitempty" jsonschema:"maximum measuring time, e.g. 60s"`
	Allow    string   `json:"allow,omitempty" jsonschema:"more time than base that is all right, a share; default 5%"`
	Seed     uint64   `json:"seed,omitempty" jsonschema:"random seed; 0 takes one from the clock"`
}

// Documents is the input of json.
type Documents struct {
	Files  []string `json:"files" jsonschema:"JSON documents or NDJSON, below the working directory"`
	Type   string   `json:"type,omitempty" jsonschema:"Go type of the documents, e.g. example.com/shop.Order"`
	Only   []string `json:"only,omitempty" jsonschema:"codecs that match these globs; encoding/json is always measured"`
	Budget string   `json:"budget,omitempty" jsonschema:"measuring time, e.g. 30s; default quick"`
}

// Table is the input of routes.
type Table struct {
	File   string   `json:"file" jsonschema:"list of routes or OpenAPI document, below the working directory"`
	Only   []string `json:"only,omitempty" jsonschema:"routers that match these globs; net/http is always measured"`
	Budget string   `json:"budget,omitempty" jsonschema:"measuring time, e.g. 30s; default quick"`
}

// Load is the input of load.
type Load struct {
	URL         string `json:"url" jsonschema:"http or https; with start a path such as /orders/7"`
	Start       string `json:"start,omitempty" jsonschema:"command line of the server, with $PORT for its port; no shell is used"`
	Method      string `json:"method,omitempty"`
	Body        string `json:"body,omitempty"`
	Connections int    `json:"connections,omitempty" jsonschema:"default 10"`
	Duration    string `json:"duration,omitempty" jsonschema:"default 10s"`
	Rate        string `json:"rate,omitempty" jsonschema:"open loop at this rate, e.g. 500/s; default: a closed loop"`
	SLO         string `json:"slo,omitempty" jsonschema:"e.g. p99<50ms,errors<0.1%"`
}

// maxShown limits the characters of client text in an error message.
const maxShown = 80

// command collects the arguments of a command of tare. Its methods can be chained. The first error is stored in
// err; check it at the end.
type command struct {
	args []string
	err  error
}

func newCommand(name string, flags ...string) *command {
	return &command{args: append([]string{name, "--json"}, flags...)}
}

func (c *command) setFlag(flag, value string) *command {
	if value != "" {
		c.checkText(flag, value)
		c.args = append(c.args, "--"+flag+"="+value)
	}
	return c
}

// checkText records an error unless value is one line of limited length. noun names it in the error.
func (c *command) checkText(noun, value string) {
	if c.err == nil && (len(value) > maxText || strings.ContainsAny(value, "\x00\n\r")) {
		c.err = fmt.Errorf("%s is not one line of at most %d bytes", noun, maxText)
	}
}

// checkCount records an error if a list is too long. noun is in the plural.
func (c *command) checkCount(noun string, n int) {
	if c.err == nil && n > maxTexts {
		c.err = fmt.Errorf("%d %s, more than %d", n, noun, maxTexts)
	}
}

// addNames adds "--" and the arguments names, because a name may look like a flag. noun is in the plural.
func (c *command) addNames(noun string, names ...string) *command {
	c.checkCount(noun, len(names))
	if c.err == nil && len(names) == 0 {
		c.err = errors.New("no " + noun)
	}
	for _, name := range names {
		c.checkText(noun, name)
		if c.err == nil && (name == "" || strings.HasPrefix(name, "-")) {
			c.err = fmt.Errorf("%q is not one of the %s", format.Line(name, maxShown), noun)
		}
	}
	c.args = append(append(c.args, "--"), names...)
	return c
}

func (c *command) setRevision(flag, value string) *command {
	if c.err == nil && strings.HasPrefix(value, "-") {
		c.err = fmt.Errorf("%s %q is not a revision", flag, format.Line(value, maxShown))
	}
	return c.setFlag(flag, value)
}

func (c *command) addGlobs(globs []string) *command {
	c.checkCount("globs", len(globs))
	for _, glob := range globs {
		c.setFlag("only", glob)
	}
	return c
}

// checkFiles records an error unless all files are regular and below dir.
func (c *command) checkFiles(dir string, files ...string) *command {
	c.checkCount("files", len(files))
	for _, name := range files {
		if c.err == nil {
			c.err = checkFile(dir, name)
		}
	}
	return c
}

// checkFile returns an error unless name is a regular file below dir. A link must also lead below dir.
func checkFile(dir, name string) error {
	shown := format.Line(name, maxShown)
	if len(name) > maxText || !filepath.IsLocal(name) {
		return fmt.Errorf("%q is not a path below the working directory", shown)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return fmt.Errorf("no file %s", shown)
	case err != nil || !info.Mode().IsRegular():
		return fmt.Errorf("%q is not a file below the working directory", shown)
	}
	return nil
}

func explainName(_ *Server, in Named) (request, error) {
	c := newCommand("explain").addNames("names", in.Name)
	return request{args: c.args, read: readDocument}, c.err
}

// readResults plans tare history. If the input has a run it plans tare report.
func readResults(s *Server, in Listing) (request, error) {
	if in.Run != "" {
		return s.readRun(in.Run)
	}
	const defaultLimit, maxLimit = 20, 100
	c := newCommand("history")
	if in.Study != "" {
		c = newCommand("history", "--runs").addNames("studies", in.Study)
	}
	limit := min(cmp.Or(max(in.Limit, 0), defaultLimit), maxLimit)
	return request{args: c.args, read: func(_ int, document []byte) (Reply, error) { return listRuns(s.Results, document, limit) }}, c.err
}

func (s *Server) readRun(run string) (request, error) {
	if err := checkFile(s.Results, filepath.Join(run, "result.json")); err != nil || !filepath.IsLocal(run) {
		return request{}, fmt.Errorf("no run %q; the tool results lists them", format.Line(run, maxShown))
	}
	c := newCommand("report").addNames("runs", filepath.Join(s.Results, run))
	return request{args: c.args, read: readResult}, c.err
}

func judgeGate(s *Server, in Sides) (request, error) {
	switch {
	case in.Run != "" && in.Base != "":
		return request{}, errors.New("run and base contradict each other: a run was measured already")
	case in.Run != "":
		return s.readRun(in.Run)
	}
	c := newCommand("gate", "--quiet").setRevision("base", in.Base).setRevision("head", in.Head)
	if in.Changed {
		c.args = append(c.args, "--changed")
	}
	return request{args: c.args, measures: true, read: readGate}, c.err
}

func measureBench(_ *Server, in Bench) (request, error) {
	c := newCommand("bench", "--quiet", "--exit-code").setRevision("base", in.Base).setRevision("head", in.Head)
	if c.err == nil && in.Base == "" {
		c.err = errors.New("base is needed: a revision, e.g. HEAD~1")
	}
	if in.Changed {
		c.args = append(c.args, "--changed")
	}
	if in.Seed != 0 {
		c.setFlag("seed", strconv.FormatUint(in.Seed, 10))
	}
	c.setFlag("bench", in.Bench).setFlag("max", in.Max).setFlag("allow", in.Allow)
	if len(in.Packages) > 0 {
		c.addNames("packages", in.Packages...)
	}
	for _, pattern := range in.Packages {
		isOutside := filepath.IsAbs(pattern) || strings.Contains("/"+pattern+"/", "/../")
		if c.err == nil && isOutside {
			c.err = fmt.Errorf("package %q is not below the working directory", format.Line(pattern, maxShown))
		}
	}
	return request{args: c.args, measures: true, read: readResult}, c.err
}

func measureJSON(s *Server, in Documents) (request, error) {
	c := newCommand("json", "--quiet").setFlag("type", in.Type).addGlobs(in.Only).setFlag("budget", in.Budget)
	c.checkFiles(s.Dir, in.Files...).addNames("files", in.Files...)
	return request{args: c.args, measures: true, read: readResult}, c.err
}

func measureRoutes(s *Server, in Table) (request, error) {
	c := newCommand("routes", "--quiet").addGlobs(in.Only).setFlag("budget", in.Budget)
	c.checkFiles(s.Dir, in.File).addNames("files", in.File)
	return request{args: c.args, measures: true, read: readResult}, c.err
}

func measureLoad(s *Server, in Load) (request, error) {
	const warm = time.Second // duration of the load before the measurement
	duration, err := time.ParseDuration(cmp.Or(in.Duration, "10s"))
	if err != nil || duration <= 0 {
		return request{}, fmt.Errorf("duration %q is not a duration above zero, e.g. 10s", format.Line(in.Duration, maxShown))
	}
	if in.Connections < 0 {
		return request{}, fmt.Errorf("%d is not a number of connections", in.Connections)
	}
	if strings.HasPrefix(in.Body, "@") {
		return request{}, errors.New("body begins with @, which names a file; give its content")
	}
	var profile pace.Profile
	if in.Rate != "" {
		if profile, err = pace.Parse(in.Rate, duration); err != nil {
			return request{}, err
		}
	}
	target, addr, err := parseTarget(in.URL, in.Start != "")
	if err != nil {
		return request{}, err
	}
	if err := s.Limits.CheckLoad(addr, warm+duration, profile); err != nil {
		return request{}, err
	}
	c := newCommand("load", "--quiet", "--warm="+warm.String()).setFlag("start", in.Start).setFlag("method", in.Method).setFlag("body", in.Body)
	c.setFlag("duration", duration.String()).setFlag("rate", in.Rate).setFlag("slo", in.SLO)
	if in.Connections > 0 {
		c.setFlag("connections", strconv.Itoa(in.Connections))
	}
	c.addNames("URLs", target)
	return request{args: c.args, measures: true, read: readDocument}, c.err
}

// parseTarget parses the client's URL. It returns the URL for tare load, and host:port. If isStarted, tare starts
// the server itself and text is a path such as /orders/7.
func parseTarget(text string, isStarted bool) (target, addr string, err error) {
	u, err := url.Parse(text)
	if isStarted {
		isPath := err == nil && u.Scheme == "" && u.Host == "" && strings.HasPrefix(u.Path, "/") && !strings.HasPrefix(text, "//")
		if !isPath {
			return "", "", fmt.Errorf("url %q: with start it is a path, e.g. /orders/7", format.Line(text, maxShown))
		}
		return u.String(), "127.0.0.1:0", nil
	}
	defaultPorts := map[string]string{"http": "80", "https": "443"}
	isServer := err == nil && defaultPorts[u.Scheme] != "" && u.Hostname() != "" && u.User == nil
	if !isServer {
		return "", "", fmt.Errorf("url %q is not http://HOST:PORT/PATH", format.Line(text, maxShown))
	}
	return u.String(), net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), defaultPorts[u.Scheme])), nil
}
