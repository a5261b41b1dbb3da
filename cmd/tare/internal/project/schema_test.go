package project_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/tarebench/tare/cmd/tare/internal/project"
)

const besides = `studies: [bench/encode.yaml, json-encode]
json: [testdata/order.json, events.ndjson]
routes: api/openapi.yaml
load:
  - program: ./cmd/api
    args: [-port, $PORT]
    mix: [GET /items/7=3, /health=1]
    connections: 50
    rate: 500/s
    slo: p50<5ms,p99<=50ms
  - {id: closed, program: ./cmd/api, feed: requests.ndjson}
`

// What is measured besides benchmarks is taken, or refused, by the published
// schema and by the parser alike.
func TestSchemaAndParserAgreeOnWhatIsBesides(t *testing.T) {
	file, err := os.Open(filepath.Join("..", "..", "..", "..", "docs", "schema", "project.schema.json"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("project.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s := c.MustCompile("project.schema.json")
	try := func(old, with string, good bool) {
		t.Helper()
		src := strings.Replace(besides, old, with, 1)
		if old != with && src == besides {
			t.Fatalf("%q is not in the file", old)
		}
		var v any
		if err := yaml.Unmarshal([]byte(src), &v); err != nil {
			t.Fatalf("%v\n%s", err, src)
		}
		_, perr := project.Parse("tare.yaml", []byte(src))
		serr := s.Validate(v)
		if (perr == nil) != good || (serr == nil) != good {
			t.Errorf("wanted good %v\n%s\nparser: %v\nschema: %v", good, src, perr, serr)
		}
	}
	try("", "", true)
	for _, r := range [][2]string{
		{"[bench/encode.yaml, json-encode]", "users"}, {"[bench/encode.yaml, json-encode]", "a.yml"}, {"json: [testdata/order.json, events.ndjson]", "json:"}, {"api/openapi.yaml", "[api.txt]"},
		{"[-port, $PORT]", "serve"}, {"    args: [-port, $PORT]\n", ""}, {"[GET /items/7=3, /health=1]", "POST /a?x=1=2"}, {"500/s", "1250.5"}, {"500/s", "1500 / s"}, {"    connections: 50\n", ""},
		{"p50<5ms,p99<=50ms", "max<1s"}, {"    rate: 500/s\n    slo: p50<5ms,p99<=50ms\n", ""}, {"id: closed", "id: api.v2_x-1"},
	} {
		try(r[0], r[1], true)
	}
	for _, r := range [][2]string{
		{"json-encode]", "JSON encode]"}, {"json-encode]", "encode.json]"}, {"json-encode]", "bench/encode.yaml]"}, {"json-encode]", "1]"}, {"json-encode]", "../x.yaml]"},
		{"events.ndjson", "/events.ndjson"}, {"events.ndjson", "''"}, {"events.ndjson", "testdata/order.json"}, {"api/openapi.yaml", "[a.txt, b.txt]"}, {"api/openapi.yaml", "{}"},
		{"program: ./cmd/api\n", "program: ../api\n"}, {"program: ./cmd/api\n", "command: ./cmd/api\n"}, {"program: ./cmd/api, feed", "feed"}, {", feed: requests.ndjson", ""},
		{"feed: requests.ndjson", "feed: requests.ndjson, mix: /=1"}, {"feed: requests.ndjson", "feed: requests.ndjson, feed_bodies: a"}, {"feed: requests.ndjson", "feed_bodies: ../a"}, {"GET /items/7=3", "GET items=3"}, {"GET /items/7=3", "GET /items/7"}, {"GET /items/7=3", "GET /items/7=0"}, {"/health=1", "GET /items/7=3"},
		{"connections: 50", "connections: 0"}, {"connections: 50", "connections: 10001"}, {"connections: 50", "connections: many"}, {"500/s", "0"}, {"500/s", "fast"}, {"500/s", "1e7"}, {"    rate: 500/s\n", ""},
		{"p50<5ms,p99<=50ms", "errors<1%"}, {"p50<5ms,p99<=50ms", "mean<5ms"}, {"p50<5ms,p99<=50ms", "p95<5ms"}, {"p50<5ms,p99<=50ms", "[p50<5ms]"}, {"id: closed", "id: a b"}, {"id: closed", "name: closed"}, {"args: [-port, $PORT]", "args: [-port, 80]"},
	} {
		try(r[0], r[1], false)
	}
}
