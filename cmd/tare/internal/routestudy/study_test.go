package routestudy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/studyfile"
	"github.com/tarebench/tare/internal/build"
)

func leaves() (list []build.Leaf) {
	for _, m := range []build.Manifest{
		{ID: "chi", Kind: "router"}, {ID: "gin", Kind: "router", Variants: []string{"new", "default"}}, {ID: "json", Kind: "codec"},
		{ID: "nethttp", Kind: "router"}, {ID: "nethttp-prefix", Kind: "router", Trap: true}, {ID: "null", Kind: "router"},
	} {
		list = append(list, build.Leaf{Manifest: m})
	}
	return list
}

func TestStudy(t *testing.T) {
	many := ""
	for i := range 600 {
		many += fmt.Sprintf("GET /r%d/{id}\n", i)
	}
	for _, c := range []struct{ name, src, baseline, workloads, question, list string }{
		{"dir/api v1.yaml", "openapi: 3.0.0\npaths: {/a: {get: {}}, '/a/{b}': {put: {}}, '/a/{b}/{c}': {put: {}}}", "nethttp",
			"all static one-parameter several-parameters not-found wrong-method socket", "Which router is fastest on the 3 routes of api v1.yaml, and would a request notice?", "api_v1.txt"},
		{"<stdin>", "GET /a\nPUT /a\nPOST /a\nPATCH /a\nDELETE /a", "nethttp", "all static not-found socket", "Which router is fastest on the 5 routes of stdin, and would a request notice?", "stdin.txt"},
		{".x.txt", "GET /a/{x}/c\nGET /a/b/{y}", "chi", "all one-parameter not-found wrong-method socket", "Which router is fastest on the 2 routes of .x.txt, and would a request notice?", "x.txt"},
		{"\"it: #'s\".txt", "GET /a", "nethttp", "all static not-found wrong-method socket", "Which router is fastest on the 1 route of \"it: #'s\".txt, and would a request notice?", "_it____s_.txt"},
		{"many.txt", many, "nethttp", "all one-parameter not-found wrong-method socket", "Which router is fastest on the 600 routes of many.txt, and would a request notice?", "many.txt"},
	} {
		d, _ := listOf(t, c.name, c.src)
		routers, left := d.Routers(leaves())
		text := d.Study(routers)
		s, _, err := studyfile.Read("routes.yaml", []byte(text))
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		var ids, who []string
		for _, w := range s.Workloads {
			ids = append(ids, w.ID)
			if w.File != c.list || w.ID == "all" && (w.Pool != 0) != (len(d.Table.Routes) > 512) {
				t.Errorf("%+v", w)
			}
		}
		for _, e := range s.Contenders {
			who = append(who, e.ID)
		}
		if strings.Join(ids, " ") != c.workloads || s.Baseline != c.baseline || s.Contenders[0].ID != c.baseline || s.Question != c.question || d.ListName() != c.list {
			t.Errorf("%s: %v of %s, %q, %s", c.name, ids, s.Baseline, s.Question, d.ListName())
		}
		if want := strings.NewReplacer(" static", "", " one-parameter", "", " several-parameters", "").Replace(c.workloads); strings.Join(s.Budget.QuickWorkloads, " ") != want {
			t.Errorf("quick measures %v, want %s", s.Budget.QuickWorkloads, want)
		}
		if len(who) != 4 || len(left) != 1 || left[0].What != "contender nethttp-prefix" {
			t.Errorf("%v, %v", who, left)
		}
	}
}
