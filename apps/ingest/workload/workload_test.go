package workload

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/tarebench/tare"
	"github.com/tarebench/tare/apps/ingest"
	"github.com/tarebench/tare/apps/ingest/serving"
	"github.com/tarebench/tare/contender/wire"
	"github.com/tarebench/tare/kinds/server"
)

func workload(op string, n, pool int) tare.Workload {
	return tare.Workload{ID: "ingest/" + op, Fixture: ingest.Name, Op: op, N: n, Pool: pool, Traffic: &tare.Traffic{Connections: 2}}
}

func kind() *server.Kind { return server.Of(server.Name, App()) }

// madeFor is a workload's pool, what each request of it should be answered, and
// how it is told to contenders.
func madeFor(t *testing.T, k *server.Kind, w tare.Workload) ([]server.Request, []server.Response, wire.Workload) {
	t.Helper()
	in, err := k.Input(w, t.TempDir(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w.N = in.N
	list, err := newRequests(w)
	if err != nil || len(list) != in.Bodies {
		t.Fatalf("%d requests of %d, %v", len(list), in.Bodies, err)
	}
	refs, err := referenceResponses(in, list)
	if err != nil || len(refs) != len(list) {
		t.Fatalf("%d references of %d requests, %v", len(refs), len(list), err)
	}
	return list, refs, in
}

func requestsOf(probes []server.Probe) (list []server.Request) {
	for _, p := range probes {
		list = append(list, p.Request)
	}
	return list
}

// The pools are these for ever, and as long as those that were published: about
// 8,422 bytes a batch of ten, 10,085 indented.
func TestPools(t *testing.T) {
	for _, c := range []struct {
		op              string
		n, pool         int
		requests, items int
		least, most     int // bytes of a body
	}{
		{opEvents, 0, 0, 64, 640, 8411, 8411},
		{opEvents, 1, 0, 64, 64, 0, 900},
		{opEvents, 100, 3, 3, 300, 80_000, 90_000},
		{opEvents, 10, 1, 1, 10, 8411, 8411},
		{opUniform, 0, 0, 70, 385, 800, 8500},
		{opUniform, 4, 10, 10, 23, 800, 3500},
		{opPretty, 0, 0, 64, 640, 10_062, 10_062},
	} {
		k := kind()
		w := workload(c.op, c.n, c.pool)
		list, refs, in := madeFor(t, k, w)
		items, distinct, sizes := 0, map[string]bool{}, map[int]int{}
		for i, q := range list {
			var batch []ingest.Record
			if err := json.Unmarshal(q.Body, &batch); err != nil || len(batch) != q.Items {
				t.Fatalf("%s: %d records of %d, %v", c.op, len(batch), q.Items, err)
			}
			var receipt ingest.Receipt
			if err := json.Unmarshal(refs[i].Body, &receipt); err != nil || receipt.Accepted != q.Items || receipt.Bytes < 400*int64(q.Items) || refs[i].Status != 200 {
				t.Errorf("%s: %d records are answered %d %s", c.op, q.Items, refs[i].Status, refs[i].Body)
			}
			if len(q.Body) < c.least || len(q.Body) > c.most || q.Method != http.MethodPost || q.Path != "/" || q.Header[server.ContentType] != server.TypeJSON {
				t.Errorf("%s: %d bytes, %s %s %v", c.op, len(q.Body), q.Method, q.Path, q.Header)
			}
			items += q.Items
			sizes[q.Items]++
			distinct[string(q.Body)] = true
		}
		if len(list) != c.requests || items != c.items || len(distinct) != c.requests {
			t.Errorf("%s: %d requests of %d records, %d differ", c.op, len(list), items, len(distinct))
		}
		n := max(c.n, 10)
		if c.n > 0 {
			n = c.n
		}
		if in.N != n {
			t.Errorf("%s: n %d", c.op, in.N)
		}
		if c.op == opUniform {
			for size := 1; size <= n; size++ {
				if most := (len(list) + n - 1) / n; sizes[size] > most || sizes[size] < len(list)/n {
					t.Errorf("%d batches of %d records among %d", sizes[size], size, len(list))
				}
			}
		}
		d, err := k.Describe(w, in)
		if err != nil || d.N != n || d.Keys != len(list) || d.DistinctKeys != len(list) || d.Bytes == 0 || d.Counted() != (tare.Counts{One: "event", Most: c.op == opUniform}) {
			t.Errorf("%s: %+v, %v", c.op, d, err)
		}
	}
}

// Golden sums: pools of another year can be compared with these.
func TestPoolsStay(t *testing.T) {
	for op, sum := range map[string]string{opEvents: "32383eac10d930f9", opUniform: "c540b2a0d18cd394", opPretty: "d928a45e6b81cb5a"} {
		_, _, in := madeFor(t, kind(), workload(op, 0, 0))
		if in.SHA256[:16] != sum {
			t.Errorf("%s is %s, was %s", op, in.SHA256[:16], sum)
		}
	}
}

func TestSettings(t *testing.T) {
	for name, c := range map[string]struct {
		in   wire.Workload
		list []server.Request
		set  map[string]string
		want map[string]string
	}{
		"default":   {wire.Workload{N: 10}, nil, map[string]string{}, map[string]string{serving.SetLimit: "10"}},
		"small":     {wire.Workload{N: 1}, nil, map[string]string{}, map[string]string{serving.SetLimit: "10"}},
		"raw":       {wire.Workload{N: 1}, nil, map[string]string{serving.SetMetadata: "raw"}, map[string]string{serving.SetLimit: "10", serving.SetMetadata: "raw"}},
		"large":     {wire.Workload{N: 100}, nil, map[string]string{"fsync": "on"}, map[string]string{serving.SetLimit: "100", "fsync": "on"}},
		"said":      {wire.Workload{N: 100}, nil, map[string]string{serving.SetLimit: "500"}, map[string]string{serving.SetLimit: "500"}},
		"long":      {wire.Workload{N: 10}, []server.Request{{Body: make([]byte, 2<<20)}}, map[string]string{}, map[string]string{serving.SetLimit: "10", serving.SetMaxBody: "2097152"}},
		"long said": {wire.Workload{N: 10}, []server.Request{{Body: make([]byte, 2<<20)}}, map[string]string{serving.SetMaxBody: "3MiB"}, map[string]string{serving.SetLimit: "10", serving.SetMaxBody: "3MiB"}},
		"probes":    {wire.Workload{Op: server.OpProbes}, []server.Request{{Body: make([]byte, 2<<20)}}, map[string]string{serving.SetLimit: "500", serving.SetMaxBody: "3MiB"}, map[string]string{serving.SetLimit: "10"}},
		"exam":      {wire.Workload{Op: server.OpExam}, nil, map[string]string{serving.SetLimit: "500", serving.SetMetadata: "raw"}, map[string]string{serving.SetLimit: "10"}},
	} {
		if c.want[serving.SetMetadata] == "" { // studies measure how it is decoded and encoded, unless they say otherwise
			c.want[serving.SetMetadata] = serving.MetadataTyped
		}
		if err := applySettings(c.in, c.list, c.set, ""); err != nil || !reflect.DeepEqual(c.set, c.want) {
			t.Errorf("%s: %v, %v", name, c.set, err)
		}
	}
}

// What is asked besides comes out as the contract has it.
func TestProbes(t *testing.T) {
	refs, err := referenceResponses(wire.Workload{Op: server.OpProbes}, requestsOf(newProbes()))
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for i, r := range refs {
		got = append(got, r.Status)
		if r.Status == 200 && len(r.Body) == 0 || r.Status != 200 && r.Body != nil {
			t.Errorf("probe %d is answered %d %q", i, r.Status, r.Body)
		}
	}
	want := []int{405, 405, 404, 404, 405, 415, 415, 415, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 400, 413, 413, 200, 200, 200, 200, 200}
	if !slices.Equal(got, want) {
		t.Errorf("probes are answered\n%v, want\n%v", got, want)
	}
}

// The reference is encoding/json: what it makes of each question.
func TestQuestions(t *testing.T) {
	questions := newQuestions()
	var list []server.Request
	for _, q := range questions {
		list = append(list, q.Request)
	}
	refs, err := referenceResponses(wire.Workload{Op: server.OpExam}, append(list, newBatch(1)))
	if err != nil {
		t.Fatal(err)
	}
	plain := string(refs[len(list)].Body)
	statuses := map[string]int{}
	for i, q := range questions {
		if _, twice := statuses[q.Name]; twice || q.Property == "" || len(q.Property) > 25 || q.What == "" || q.Asked == "" || len(q.BearsOn) == 0 {
			t.Errorf("question %+v", q)
		}
		if string(q.Body) == "["+event+"]" {
			t.Errorf("%s asks nothing", q.Name)
		}
		statuses[q.Name] = refs[i].Status
	}
	for name, want := range map[string]int{
		"key twice": 200, "text behind": 400, "batch behind": 400, "comma behind": 400, "unknown field": 200, "other case": 200, "null text": 200,
		"fraction": 400, "number as text": 400, "big integer": 400, "not UTF-8": 200, "mark": 400, "deep": 400, "offset": 200, "no zone": 400, "long text": 200,
	} {
		if statuses[name] != want {
			t.Errorf("%s is answered %d, want %d", name, statuses[name], want)
		}
	}
	// Where the reference takes both it can be told what it took.
	for _, name := range []string{"key twice", "null text", "not UTF-8", "markup"} {
		i := slices.IndexFunc(questions, func(q server.Question) bool { return q.Name == name })
		if string(refs[i].Body) == plain {
			t.Errorf("%s is answered like an event without it: %s", name, plain)
		}
	}
}

// The other formats hold the same events.
func TestFormats(t *testing.T) {
	list, _, _ := madeFor(t, kind(), workload(opEvents, 3, 5))
	for format, read := range map[string]func(*testing.T, []byte) []ingest.Record{bodyProtobuf: fromProtobuf, bodyGob: fromGob} {
		d, err := newDialect(tare.Contender{}, map[string]string{setBody: format})
		if err != nil {
			t.Fatal(err)
		}
		for i := range list {
			q, said, err := d.Encode(list[i])
			if err != nil || !said {
				t.Fatal(said, err)
			}
			var want []ingest.Record
			if err := json.Unmarshal(list[i].Body, &want); err != nil {
				t.Fatal(err)
			}
			got := read(t, q.Body)
			for j := range got {
				got[j].Timestamp.Time = got[j].Timestamp.UTC()
			}
			if !reflect.DeepEqual(got, want) || q.Items != 3 || q.Header[server.ContentType] != "application/x-"+format || len(q.Body) >= len(list[i].Body) {
				t.Errorf("%s: %+v of %d bytes, want %+v of %d", format, got, len(q.Body), want, len(list[i].Body))
			}
		}
	}
	if d, err := newDialect(tare.Contender{}, map[string]string{setBody: bodyJSON}); err != nil || d.Encode != nil {
		t.Errorf("JSON: %+v, %v", d, err)
	}
	if _, err := newDialect(tare.Contender{}, map[string]string{setBody: "xml"}); err == nil || !strings.Contains(err.Error(), "none of json, protobuf and gob") {
		t.Errorf("XML: %v", err)
	}
}

// A batch that breaks off does so in each format; what is no batch stays.
func TestFormatsOfProbes(t *testing.T) {
	for _, format := range []string{bodyProtobuf, bodyGob} {
		changed := 0
		for i, q := range requestsOf(newProbes()) {
			e, err := encodeBatch(q, format)
			if err != nil {
				t.Fatalf("probe %d: %v", i, err)
			}
			if bytes.Equal(e.Body, q.Body) {
				continue
			}
			changed++
			var list []ingest.Record
			whole := json.Unmarshal(q.Body, &list) == nil
			if err := gob.NewDecoder(bytes.NewReader(e.Body)).Decode(&list); format == bodyGob && (err == nil) != whole {
				t.Errorf("probe %d: %v", i, err)
			}
		}
		if changed < 4 {
			t.Errorf("%d probes as %s", changed, format)
		}
	}
}

func fromGob(t *testing.T, body []byte) (list []ingest.Record) {
	if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&list); err != nil {
		t.Fatal(err)
	}
	return list
}

// fields reads a message as the format's specification has it.
func fields(t *testing.T, b []byte, each func(number int, varint uint64, text []byte)) {
	for last := 0; len(b) > 0; {
		key, n := binary.Uvarint(b)
		b = b[n:]
		if int(key>>3) < last {
			t.Fatalf("field %d after %d", key>>3, last)
		}
		last = int(key >> 3)
		switch key & 7 {
		case 0:
			v, n := binary.Uvarint(b)
			b = b[n:]
			each(last, v, nil)
		case 1:
			each(last, binary.LittleEndian.Uint64(b), nil)
			b = b[8:]
		case 2:
			size, n := binary.Uvarint(b)
			each(last, 0, b[n:n+int(size)])
			b = b[n+int(size):]
		default:
			t.Fatalf("wire type %d", key&7)
		}
	}
}

func fromProtobuf(t *testing.T, body []byte) (list []ingest.Record) {
	fields(t, body, func(_ int, _ uint64, record []byte) {
		var r ingest.Record
		fields(t, record, func(number int, varint uint64, text []byte) {
			switch number {
			case 1:
				r.ID = string(text)
			case 2:
				r.Timestamp.Time = time.UnixMilli(int64(varint))
			case 3:
				v := reflect.ValueOf(&r.Metadata).Elem()
				fields(t, text, func(number int, varint uint64, text []byte) {
					switch f := v.Field(number - 1); f.Kind() {
					case reflect.String:
						f.SetString(string(text))
					case reflect.Int:
						f.SetInt(int64(varint))
					case reflect.Bool:
						f.SetBool(varint == 1)
					case reflect.Float64:
						f.SetFloat(math.Float64frombits(varint))
					}
				})
			}
		})
		list = append(list, r)
	})
	return list
}
