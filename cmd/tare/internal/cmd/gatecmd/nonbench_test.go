package gatecmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/cmd/tare/internal/catalog"
	"github.com/tarebench/tare/cmd/tare/internal/cmdenv"
	"github.com/tarebench/tare/cmd/tare/internal/project"
	"github.com/tarebench/tare/cmd/tare/internal/session"
	"github.com/tarebench/tare/internal/assert"
)

// twoSides is a project whose change moves one codec of the catalog, and
// another that it replaces by a directory.
func twoSides(t *testing.T, yaml string) *extraStudies {
	t.Helper()
	all, err := catalog.Find("")
	assert.NoError(t, "find", err)
	b := &extraStudies{session: &session.Session{}, measured: &gate.Measured{}, catalog: all, config: "tare.yaml"}
	for _, side := range []struct {
		dir         *string
		goccy, rest string
	}{{&b.projectDirs.Base, "v0.10.2", "\t\n"}, {&b.projectDirs.Head, "v0.10.5", "\tgithub.com/minio/simdjson-go v0.4.5\n"}} {
		*side.dir = t.TempDir()
		for name, text := range map[string]string{
			"go.mod":              "module m\n\ngo 1.25\n\nrequire (\n\tgithub.com/goccy/go-json " + side.goccy + "\n\tgithub.com/json-iterator/go v1.1.12\n\tgithub.com/segmentio/encoding " + side.goccy + "\n" + side.rest + ")\n\nreplace github.com/segmentio/encoding => ../x\n",
			"testdata/order.json": `{"id": 7}`,
		} {
			path := filepath.Join(*side.dir, filepath.FromSlash(name))
			assert.NoError(t, "make a directory", os.MkdirAll(filepath.Dir(path), 0o755))
			assert.NoError(t, "write a file", os.WriteFile(path, []byte(text), 0o644))
		}
	}
	b.repoDirs = b.projectDirs
	if b.moduleVersions, err = newModuleVersions(context.Background(), all, b.projectDirs); err != nil {
		t.Fatal(err)
	}
	if b.request.Project, err = project.Parse("tare.yaml", []byte(yaml)); err != nil {
		t.Fatal(err)
	}
	return b
}

// Of all codecs those are measured on the documents that the change moves.
func TestGateOfDocuments(t *testing.T) {
	b := twoSides(t, "json: testdata/order.json\n")
	assert.NoError(t, "add documents", b.addDocuments())
	if len(b.studies) != 1 || len(b.measured.Skipped)+len(b.measured.Notes) != 0 {
		t.Fatalf("%d studies, left %v, notes %v", len(b.studies), b.measured.Skipped, b.measured.Notes)
	}
	one := b.studies[0]
	if err := one.Study.Validate(); err != nil {
		t.Error(err)
	}
	var with []string
	for _, e := range one.Study.Contenders {
		with = append(with, e.Use+" "+strings.Join(e.With, " "))
	}
	if want := []string{"goccy github.com/goccy/go-json@v0.10.2", "goccy github.com/goccy/go-json@v0.10.5"}; !slices.Equal(with, want) || one.Study.ID != "gate-json-goccy" || one.Requirements.Name != "json/goccy" || one.Requirements.Place != (gate.Place{File: "tare.yaml", Line: 1}) {
		t.Errorf("%s as %+v: %q", one.Study.ID, one.Requirements, with)
	}
	if w := one.Study.Workloads; len(w) != 2 || w[0].ID != "order/decode" || w[1].File != "order.json" || one.Study.Dir != filepath.Join(b.projectDirs.Head, "testdata") {
		t.Errorf("%+v in %s", w, one.Study.Dir)
	}
}

// What a change does not move is not measured, and said not to be.
func TestGateOfStudiesThatNothingMoves(t *testing.T) {
	b := twoSides(t, "studies: x.yaml\n")
	assert.NoError(t, "add study", b.addStudy(tare.Study{ID: "x", Kind: "codec", Contenders: []tare.Entry{{ID: "sonic-default"}, {ID: "jsoniter-default"}, {ID: "segmentio"}, {ID: "simdjson-go"}}}, b.request.Project.Studies[0]))
	if len(b.studies) != 0 || len(b.measured.Notes) != 1 || !strings.HasPrefix(b.measured.Notes[0], "x.yaml: nothing to compare: ") {
		t.Errorf("%d studies, notes %q", len(b.studies), b.measured.Notes)
	}
}

// What tare.yaml names and the head has not is said with its place.
func TestGateSaysWhereSomethingIsMissing(t *testing.T) {
	for yaml, want := range map[string]string{
		"studies: bench/x.yaml":                     "tare.yaml:1:10: there is no bench/x.yaml in the head",
		"json:\n- none.json":                        "tare.yaml:2:3: there is no none.json in the head",
		"routes: none.txt":                          "tare.yaml:1:9: there is no none.txt in the head",
		"load: {program: cmd/api, mix: /=1}":        "tare.yaml:1:7: there is no directory cmd/api in the head",
		"load: {program: cmd/api, feed: none.json}": "tare.yaml:1:7: --feed none.json: no such file or directory",
	} {
		b := twoSides(t, yaml+"\n")
		var err error
		for _, gather := range []func() error{b.addStudies, b.addDocuments, b.addRoutes, func() error { return b.buildServers(context.Background(), t.TempDir()) }} {
			if err == nil {
				err = gather()
			}
		}
		if cmdenv.ExitCode(err) != cmdenv.ExitUsage || err.Error() != want {
			t.Errorf("%q\ngot  %v\nwant %s", yaml, err, want)
		}
	}
}

// What cannot be looked at is not taken for missing: a gate that leaves it out passes.
// A link to itself stands for a disk that fails.
func TestGateFailsWhereItCannotLook(t *testing.T) {
	ctx := context.Background()
	loop := func(t *testing.T, path string) {
		t.Helper()
		_ = os.Remove(path)
		if err := os.Symlink(path, path); err != nil {
			t.Skip(err)
		}
	}
	server := func(b *extraStudies, side string) error {
		if err := os.Mkdir(filepath.Join(b.projectDirs.Head, "api"), 0o755); err != nil {
			return err
		}
		loop(t, filepath.Join(side, "api"))
		return b.buildServers(ctx, t.TempDir())
	}
	for name, fails := range map[string]func(b *extraStudies) error{
		"go.mod": func(b *extraStudies) error {
			loop(t, filepath.Join(b.projectDirs.Base, "go.mod"))
			_, err := newModuleVersions(ctx, b.catalog, b.projectDirs)
			return err
		},
		"a server of the base": func(b *extraStudies) error { return server(b, b.projectDirs.Base) },
		"a server of the head": func(b *extraStudies) error { return server(b, b.projectDirs.Head) },
		"a build": func(b *extraStudies) error {
			loop(t, filepath.Join(b.projectDirs.Head, "api"))
			return gate.Build(ctx, filepath.Join(b.projectDirs.Head, "api"), filepath.Join(t.TempDir(), "api"))
		},
		"a program of a study": func(b *extraStudies) error {
			loop(t, filepath.Join(b.projectDirs.Base, "mine"))
			return b.addStudy(tare.Study{ID: "x", Kind: "codec", Dir: b.projectDirs.Head, Contenders: []tare.Entry{{ID: "mine", Program: "mine"}}}, project.File{Path: "x.yaml"})
		},
		"the catalog": func(b *extraStudies) error {
			broken := errors.New("the disk fails")
			b.moduleVersions = func(string, tare.Entry) (before, after []string, ok bool, err error) { return nil, nil, false, broken }
			return b.addStudy(tare.Study{ID: "x", Kind: "codec", Contenders: []tare.Entry{{ID: "goccy"}}}, project.File{Path: "x.yaml"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := twoSides(t, "load: {program: api, mix: /=1}\n")
			var build *gate.BuildError
			if err := fails(b); cmdenv.ExitCode(err) != cmdenv.ExitFailure || errors.As(err, &build) || len(b.measured.Skipped) > 0 {
				t.Errorf("%v, left %+v", err, b.measured.Skipped)
			}
		})
	}
	b := twoSides(t, "studies: x.yaml\n")
	if err := b.addStudy(tare.Study{ID: "x", Kind: "codec", Contenders: []tare.Entry{{ID: "gocy"}}}, b.request.Project.Studies[0]); cmdenv.ExitCode(err) != cmdenv.ExitUsage || !strings.HasPrefix(err.Error(), `tare.yaml:1:10: x.yaml: `) {
		t.Errorf("an unknown contender: %v", err)
	}
}

// A directory that is there in the head only is left out, even where the base has a file
// of its parent's name.
func TestGateOfAServerInHeadOnly(t *testing.T) {
	b := twoSides(t, "load: {program: cmd/api, mix: /=1}\n")
	assert.NoError(t, "make files", errors.Join(os.MkdirAll(filepath.Join(b.projectDirs.Head, "cmd", "api"), 0o755), os.WriteFile(filepath.Join(b.projectDirs.Base, "cmd"), nil, 0o600)))
	if err := b.buildServers(context.Background(), t.TempDir()); err != nil || len(b.measured.Skipped) != 1 || b.measured.Skipped[0].Why != "cmd/api is in head only" {
		t.Errorf("%v, left %+v", err, b.measured.Skipped)
	}
}
