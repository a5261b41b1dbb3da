package router

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/contender/fixture"
	"github.com/tarebench/tare/contender/router"
	"github.com/tarebench/tare/internal/atomicfile"
)

// Keys of a workload's set, which describe the table of routes to generate.
const (
	setDepth      = "depth"      // literal segments of each path: 1 to 6; default 1
	setParams     = "params"     // parameters of each path: 0 to 2; default 0
	setSiblings   = "siblings"   // some or none: with a literal where another has a parameter; default some
	setMiddleware = "middleware" // layers around all routes: 0 to 5; default 0
	// router.SetAsk selects the requests to the table; default all
)

// loadTable returns the routes of w, generated or read from its file, and the names of the layers
// (middleware) around them. The path of the file is relative to studyDir.
func loadTable(w tare.Workload, studyDir string) ([]fixture.Route, []string, error) {
	known := []string{setDepth, setParams, setSiblings, setMiddleware, router.SetAsk}
	if w.File != "" {
		known = []string{setMiddleware, router.SetAsk}
	}
	for _, key := range slices.Sorted(maps.Keys(w.Set)) {
		if !slices.Contains(known, key) {
			return nil, nil, fmt.Errorf("set: %s: a table of routes has %s", key, strings.Join(known, ", "))
		}
	}
	n, err := parseNumber(w.Set, setMiddleware, 0)
	if err != nil {
		return nil, nil, err
	}
	layers, err := router.LayerNames(n)
	if err != nil {
		return nil, nil, fmt.Errorf("set: %s: %w", setMiddleware, err)
	}
	if w.File == "" {
		routes, err := generateRoutes(w)
		return routes, layers, err
	}
	path := w.File
	if !filepath.IsAbs(path) {
		path = filepath.Join(studyDir, path)
	}
	routes, err := readRoutes(path)
	return routes, layers, err
}

func generateRoutes(w tare.Workload) ([]fixture.Route, error) {
	t := fixture.Table{N: max(1, w.N)} // N is 0 if the workload sets no number of routes
	var err error
	if t.Depth, err = parseNumber(w.Set, setDepth, 1); err != nil {
		return nil, err
	}
	if t.Params, err = parseNumber(w.Set, setParams, 0); err != nil {
		return nil, err
	}
	switch w.Set[setSiblings] {
	case "", "some": // the default of fixture.Table
	case "none":
		t.Apart = true
	default:
		return nil, fmt.Errorf("set: %s: %q is neither some nor none", setSiblings, w.Set[setSiblings])
	}
	return t.Routes()
}

func parseNumber(set map[string]string, key string, fallback int) (int, error) {
	text, ok := set[key]
	if !ok {
		return fallback, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("set: %s: %q is not a number", key, text)
	}
	return n, nil
}

// readRoutes reads a list of routes. A route that NewTable would omit is an error, so that the user
// removes it and knows it.
func readRoutes(path string) ([]fixture.Route, error) {
	if ext := filepath.Ext(path); ext != ".txt" {
		return nil, fmt.Errorf("%s: want a list of routes, a file that ends in .txt with a method and a path to a line; tare routes FILE --list makes one of an OpenAPI document", path)
	}
	src, err := atomicfile.ReadFile(path, MostList)
	if err != nil {
		return nil, err
	}
	list, err := ReadList(path, src)
	if err != nil {
		return nil, err
	}
	t := NewTable(list)
	if len(t.Left) > 0 {
		l := t.Left[0]
		return nil, &ListError{File: path, Line: l.Line, Col: l.Col, What: fmt.Sprintf("%s: %s; leave it out", l, l.Why)}
	}
	if len(t.Routes) > MostRoutes {
		return nil, fmt.Errorf("%s: %d routes, want at most %d", path, len(t.Routes), MostRoutes)
	}
	return t.Routes, nil
}
