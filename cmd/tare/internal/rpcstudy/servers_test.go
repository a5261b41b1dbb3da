package rpcstudy

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/testtare"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/internal/atomicfile"
	"github.com/tarebench/tare/internal/build"
	"github.com/tarebench/tare/internal/trial"
	"github.com/tarebench/tare/kinds/server"
)

// served is the generated servers of a document, built.
type served struct {
	t        *testing.T
	d        *Document
	kind     *server.Kind
	study    tare.Study
	programs map[string]build.Program
	inputs   string
}

// serve generates and builds the servers of the transports that only chooses.
func serve(t *testing.T, d *Document, only func(string) bool) *served {
	t.Helper()
	app, err := d.App()
	if err != nil {
		t.Fatal(err)
	}
	cache := testtare.Cache(t)
	from, err := catalog.Open("../../../../contenders")
	if err != nil {
		t.Fatal(err)
	}
	dir, err := Bench{Cache: cache}.Generate(t.Context(), from, d, only)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := (Bench{Cache: cache}).Generate(t.Context(), from, d, only); err != nil || again != dir {
		t.Errorf("generated again in %s, %v", again, err)
	}
	sdk, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	s := &served{t: t, d: d, kind: server.Of(server.Name, app), study: d.Study(dir, only), programs: map[string]build.Program{}, inputs: t.TempDir()}
	sources := &catalog.Sources{Catalog: from, Builder: &build.Builder{Cache: cache, SDK: sdk}}
	for _, e := range s.study.Contenders {
		p, err := sources.Program(t.Context(), server.Name, "", e)
		if err != nil {
			t.Fatal(err)
		}
		if id := p.Contender.Identity; len(id.MissingModules)+len(id.MissingSymbols) > 0 {
			t.Errorf("%s lacks %v %v", e.ID, id.MissingModules, id.MissingSymbols)
		}
		p.Contender.Set = e.Set
		s.programs[e.ID] = p
	}
	if !atomicfile.Sealed(dir) {
		t.Error("builds changed the bench")
	}
	return s
}

// asked sends all requests of w to a contender, and returns what is wrong with the
// answers.
func (s *served) asked(id string, w wire.Workload) []string {
	s.t.Helper()
	p := s.programs[id]
	c, err := s.kind.Open(s.t.Context(), p, trial.Spec{Dir: s.t.TempDir()})
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close(context.Background())
	session := &trial.Session{Conn: c, Trial: id}
	if _, err := session.Hello(s.t.Context(), p.Variant, "1"); err != nil {
		s.t.Fatal(err)
	}
	w.Set = p.Contender.Set
	if a, err := session.Prepare(s.t.Context(), w); err != nil || a.Unsupported {
		s.t.Fatalf("%s: %+v, %v", id, a, err)
	}
	var wrong []string
	for i := range w.Bodies {
		list, err := session.Answer(s.t.Context(), w.ID, []int{i})
		if err != nil {
			s.t.Fatal(err)
		}
		said, err := s.kind.Compare(w, list)
		if err != nil {
			s.t.Fatal(err)
		}
		wrong = append(wrong, said...)
	}
	return wrong
}

// works are the workload with all methods, and the probes.
func (s *served) works() []wire.Workload {
	s.t.Helper()
	in, err := s.kind.Input(s.study.Workloads[0], "", s.inputs)
	if err != nil {
		s.t.Fatal(err)
	}
	probes, err := s.kind.Probes(s.inputs, []wire.Workload{in})
	if err != nil || len(probes) != 1 || probes[0].Bodies != in.Bodies || in.Bodies < len(s.d.Methods) {
		s.t.Fatalf("%d requests, probes %v, %v", in.Bodies, probes, err)
	}
	return append(probes, in)
}

func document(t *testing.T, path string, imports ...string) *Document {
	t.Helper()
	d, err := Read(t.Context(), path, imports, nil)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func all(string) bool { return true }

// Behind every transport each method gets the request that was sent, and answers
// with the message that was prepared.
func TestServers(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds three programs")
	}
	d := document(t, "testdata/shop.proto")
	if len(d.Methods) != 8 || len(d.Left) != 3 {
		t.Fatalf("%d methods, left %v", len(d.Methods), d.Left)
	}
	s := serve(t, d, all)
	if len(s.programs) != len(Transports()) {
		t.Errorf("%d programs", len(s.programs))
	}
	for _, id := range Transports() {
		for _, w := range s.works() {
			if wrong := s.asked(id, w); len(wrong) > 0 {
				t.Errorf("%s, %s:\n%s", id, w.ID, strings.Join(wrong, "\n"))
			}
		}
	}

	// A server that was given other requests refuses these, and one that answers
	// something else is found.
	for i, m := range d.Methods {
		if m.ID == "Cancel" {
			d.Methods[i].requests = []proto.Message{proto.Clone(m.requests[0])}
			blank(d.Methods[i].requests[0])
		}
		if m.ID == "Everything" {
			d.Methods[i].answer = proto.Clone(m.answer)
			blank(d.Methods[i].answer)
		}
	}
	for _, id := range Transports() {
		works := s.works()
		wrong := strings.Join(s.asked(id, works[0]), "\n")
		if !strings.Contains(wrong, "Cancel with the request that was sent: want status 200, got 400") {
			t.Errorf("%s: the request is not verified: %s", id, wrong)
		}
		wrong = strings.Join(s.asked(id, works[1]), "\n")
		if strings.Count(wrong, "\n") != 0 || !strings.Contains(wrong, "want body") {
			t.Errorf("%s: another answer: %s", id, wrong)
		}
	}
}

// A file of an edition has other messages in Go.
func TestEdition(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds three programs")
	}
	s := serve(t, document(t, "testdata/edition.proto"), func(id string) bool { return id == "connect" || id == "gateway-inprocess" })
	for id := range s.programs {
		for _, w := range s.works() {
			if wrong := s.asked(id, w); len(wrong) > 0 {
				t.Errorf("%s, %s:\n%s", id, w.ID, strings.Join(wrong, "\n"))
			}
		}
	}
}

// A method that is left out is not generated either, since the gateway's plugin
// refuses a whole file for one; and a body of * is the whole answer.
func TestMethodsLeftOut(t *testing.T) {
	for name, c := range map[string]struct {
		measured, left []string
	}{
		"response-body":     {[]string{"Ok", "Odd"}, nil},
		"stream-and-custom": {[]string{"Get"}, []string{"cases.v1.Notes/Upload: its client streams; unary methods are measured", "cases.v1.Notes/Find: testdata/stream-and-custom.proto:7:3: its google.api.http rule is for the method LIST, which is not measured"}},
		"refused-rules": {[]string{"Get", "Remove"}, []string{
			"refused.v1.Notes/Body: testdata/refused-rules.proto:13:3: its google.api.http rule has a body, which the gateway rejects for GET",
			"refused.v1.Notes/Maybe: testdata/refused-rules.proto:14:3: its google.api.http rule has the field tag in the path, which is optional",
			`refused.v1.Notes/Deep: testdata/refused-rules.proto:15:3: its google.api.http rule: the path "/v1/{id=**}/{text=**}" has more than one **`,
			`refused.v1.Notes/Space: testdata/refused-rules.proto:16:3: its google.api.http rule: the path "/v1/a note/{id}" has the segment "a note": other characters than those of a path are written %XX`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			d := document(t, "testdata/"+name+".proto")
			var measured, left []string
			for _, m := range d.Methods {
				measured = append(measured, m.ID)
			}
			for _, l := range d.Left {
				left = append(left, strings.TrimPrefix(l.What, "method ")+": "+l.Why)
			}
			if !slices.Equal(measured, c.measured) || !slices.Equal(left, c.left) {
				t.Errorf("measured %q, left %q", measured, left)
			}
			from, err := catalog.Open("../../../../contenders")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := (Bench{Cache: testtare.Cache(t)}).Generate(t.Context(), from, d, all); err != nil {
				t.Fatal(err)
			}
			if testing.Short() {
				return // the rest builds
			}
			s := serve(t, d, func(id string) bool { return id == "gateway-inprocess" })
			for id := range s.programs {
				for _, w := range s.works() {
					if wrong := s.asked(id, w); len(wrong) > 0 {
						t.Errorf("%s, %s:\n%s", id, w.ID, strings.Join(wrong, "\n"))
					}
				}
			}
		})
	}
}

// blank empties the first field that a message has.
func blank(m proto.Message) {
	fields := m.ProtoReflect().Descriptor().Fields()
	m.ProtoReflect().Clear(fields.Get(0))
}

// Only the modules that are needed are generated, with no code of what is imported
// for options alone.
func TestGenerateSome(t *testing.T) {
	d := document(t, "testdata/shop.proto")
	from, err := catalog.Open("../../../../contenders")
	if err != nil {
		t.Fatal(err)
	}
	b, only := Bench{Cache: t.TempDir()}, func(id string) bool { return id == "connect" }
	dir, err := b.Generate(t.Context(), from, d, only)
	if err != nil {
		t.Fatal(err)
	}
	service := filepath.Join(dir, "connect", "service.go")
	want, err := os.ReadFile(service)
	if err == nil {
		err = os.Truncate(service, 0) // as by a power cut
	}
	if err != nil {
		t.Fatal(err)
	}
	if again, err := b.Generate(t.Context(), from, d, only); err != nil || again != dir {
		t.Errorf("generated again in %s, %v", again, err)
	}
	if got, err := os.ReadFile(service); err != nil || !bytes.Equal(got, want) {
		t.Errorf("an empty file is %q after it was generated again, %v", got, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names[1:], []string{"connect", "grpc", "plugins"}) { // the first is its sum
		t.Errorf("%v", names)
	}
	for _, m := range allModules() {
		q := d.pluginRequest(m)
		var paths []string
		for _, f := range q.GetProtoFile() {
			paths = append(paths, f.GetName())
		}
		if slices.Contains(paths, "imported/options.proto") || slices.Contains(paths, "google/api/annotations.proto") || !slices.Contains(paths, "imported/money.proto") {
			t.Errorf("%s: %v", m.name, paths)
		}
		if own := slices.Contains(q.GetFileToGenerate(), "google/rpc/status.proto"); own != (m.name == "connect") {
			t.Errorf("%s generates %v", m.name, q.GetFileToGenerate())
		}
		var manifest build.Manifest
		if err := json.Unmarshal([]byte(m.manifest), &manifest); err != nil || manifest.Kind != server.Name || !slices.Equal(manifest.Apps, []string{AppName}) {
			t.Errorf("%s: %+v, %v", m.name, manifest, err)
		}
		for _, one := range allTransports() {
			if one.module == m.name && !slices.Contains(manifest.Protocols, one.protocol) {
				t.Errorf("%s is asked in %s", one.id, one.protocol)
			}
		}
	}
}
