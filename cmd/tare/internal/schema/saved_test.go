package schema

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/tarebench/tare/cmd/tare/internal/benchstudy/gate"
	"github.com/tarebench/tare/load"
)

// Documents that earlier versions wrote are still what the schemas describe, and the
// types of today hold every field of theirs.
func TestSavedDocumentsStillRead(t *testing.T) {
	read := 0
	for prefix, of := range map[string]struct {
		schema string
		into   func() any
	}{
		"load": {"load.schema.json", func() any { return &load.Document{} }},
		"gate": {gateSchema, func() any { return &gate.Report{} }},
	} {
		files, err := filepath.Glob(filepath.Join("..", "cli", "testdata", "saved", prefix+"-*.json.gz"))
		if err != nil || len(files) < 2 {
			t.Fatalf("%s: %q, %v", prefix, files, err)
		}
		s := compile(t, of.schema)
		for _, file := range files {
			src := unpack(t, file)
			if err := s.Validate(decode(t, src)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
			dec, doc := json.NewDecoder(bytes.NewReader(src)), of.into()
			dec.DisallowUnknownFields()
			if err := dec.Decode(doc); err != nil {
				t.Errorf("%s: %v", file, err)
				continue
			}
			again, err := json.Marshal(doc)
			if err != nil {
				t.Fatal(err)
			}
			if want, got := decode(t, src), decode(t, again); !reflect.DeepEqual(want, got) {
				t.Errorf("%s: something is lost, or new, when it is read and written", strings.TrimSuffix(filepath.Base(file), ".json.gz"))
			}
			read++
		}
	}
	if read < 5 {
		t.Errorf("only %d documents", read)
	}
}

func unpack(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	src, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return src
}
