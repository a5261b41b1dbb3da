package routestudy

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/traffic"
)

// TestRoutesAndFeedsAgree: tare routes and a feed of tare load have the same methods and
// paths of a document.
func TestRoutesAndFeedsAgree(t *testing.T) {
	files, err := filepath.Glob("../openapi/testdata/dialects/*")
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range append(files, "../openapi/testdata/api.yaml") {
		if filepath.Ext(file) == ".want" {
			continue
		}
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d, err := Read(filepath.Base(file), src)
		if err != nil {
			t.Fatal(err)
		}
		var routes []string
		for _, w := range d.Table.From {
			routes = append(routes, w.String())
		}
		for _, l := range d.Table.Left {
			routes = append(routes, l.Written.String())
		}
		if kind := traffic.Sniff(src, false); kind != traffic.OpenAPI {
			t.Errorf("%s is a feed of kind %d", file, kind)
		}
		feed, err := traffic.Read(traffic.OpenAPI, file, bytes.NewReader(src), false)
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range feed.Broken {
			if route, _, ok := strings.Cut(b.Why, ": "); ok && !strings.HasPrefix(route, "/") {
				routes = removeRoute(t, routes, func(r string) bool { return r == route }, b.Why)
			}
		}
		for _, q := range feed.Requests {
			path, _, _ := strings.Cut(q.Path, "?")
			routes = removeRoute(t, routes, func(r string) bool {
				pattern := regexp.MustCompile(`\\\{[^/]*?\\\}`).ReplaceAllString(regexp.QuoteMeta(r), "[^/]+")
				return regexp.MustCompile("^" + pattern + "$").MatchString(q.Method + " " + path)
			}, q.Method+" "+path)
		}
		if len(routes) > 0 {
			t.Errorf("%s: %q are routes only", file, routes)
		}
	}
}

// removeRoute removes the first route that matches, of which there must be one.
func removeRoute(t *testing.T, routes []string, matches func(string) bool, what string) []string {
	t.Helper()
	i := slices.IndexFunc(routes, matches)
	if i < 0 {
		t.Errorf("%s is in the feed only", what)
		return routes
	}
	return slices.Delete(routes, i, i+1)
}

// TestCase: the routes of the case api.yaml.
func TestCase(t *testing.T) {
	src, err := os.ReadFile("../openapi/testdata/api.yaml")
	if err != nil {
		t.Fatal(err)
	}
	want := "GET /api/v2/list/{ids}|POST /api/v2/login|GET /api/v2/users/{id}|POST /api/v2/xml|POST /other/pets"
	d, got := listOf(t, "api.yaml", string(src))
	if got != want || d.Base != "/api/v2" || len(d.Remarks()) > 0 {
		t.Errorf("%s, base %s, %q", got, d.Base, d.Remarks())
	}
	if _, got = listOf(t, "api.txt", string(src)); got != want {
		t.Errorf("by another name: %s", got)
	}
}
