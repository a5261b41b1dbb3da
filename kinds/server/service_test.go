package server

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/tarebench/tare/apps/homelab"
	"github.com/tarebench/tare/apps/ingest"
	sdk "github.com/tarebench/tare/contender/server"
	"github.com/tarebench/tare/contender/server/nethttp"
)

// serveIngest makes the ingest app as the variant has it.
func serveIngest(o sdk.Options, s *ingest.Service) (sdk.Server, error) {
	marshal := json.Marshal
	switch o.Variant {
	case "discards": // it does a part of the job
		return sdk.HTTP(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			o.Receipts.Request()
			n, _ := io.Copy(io.Discard, r.Body)
			o.Receipts.Body(n)
			fmt.Fprint(w, `{"accepted":0,"bytes":0}`)
		})), nil
	case "loses": // what it acknowledges goes to another place than it says
		other, err := ingest.New(ingest.Config{})
		if err != nil {
			return nil, err
		}
		s = other
	case "miscounts":
		marshal = func(v any) ([]byte, error) {
			b, err := json.Marshal(v)
			return append(b, ' '), err
		}
	}
	decode := func(_ *ingest.Service, body []byte) (ingest.Batch, error) {
		var list []ingest.Record
		if err := json.Unmarshal(body, &list); err != nil && o.Variant != "gullible" {
			return nil, err
		} else if err != nil {
			list = []ingest.Record{{ID: "whatever", Timestamp: ingest.Time{Time: time.Unix(0, 0)}}}
		}
		return ingest.Records(list, marshal), nil
	}
	return nethttp.Ingest(map[ingest.Format]nethttp.Decoder{ingest.JSON: decode, ingest.Gob: nethttp.Gob})(o, s)
}

// serveHomelab makes the homelab app as the variant has it.
func serveHomelab(o sdk.Options, house *homelab.House) (sdk.Server, error) {
	s, err := nethttp.Homelab(nethttp.JSON{Unmarshal: json.Unmarshal, Marshal: func(v any) ([]byte, error) {
		b, err := json.Marshal(v)
		switch {
		case o.Variant == "hollow" && bytes.HasPrefix(b, []byte(`{"error"`)):
			return []byte("{}"), nil
		case o.Variant == "indents" && err == nil: // other bytes that say the same
			return json.MarshalIndent(json.RawMessage(b), "", " ")
		}
		return b, err
	}})(o, house)
	if o.Variant == "lingers" {
		return lingering{s}, nil
	}
	return s, err
}

// lingers is how long it takes a server that is slow to end.
const lingers = 700 * time.Millisecond

type lingering struct{ sdk.Server }

func (l lingering) Shutdown(ctx context.Context) error {
	time.Sleep(lingers)
	return l.Server.Shutdown(ctx)
}

// A command that collects batches delivers them late, and one that forgets
// leaves the last record of each batch out.
const collectLate = 400 * time.Millisecond

// collect takes batches under the path that a file in its directory names, and
// appends a line for each record to a file there. If that file names a port as
// well, it posts the lines there instead.
func collect(part string) int {
	var dir string
	for _, a := range os.Args[1:] {
		if name, ok := bytes.CutPrefix([]byte(a), []byte("-dir=")); ok {
			dir = string(name)
		}
	}
	conf, err := os.ReadFile(filepath.Join(dir, "collect.conf"))
	words := strings.Fields(string(conf))
	if err == nil && len(words) < 2 {
		err = fmt.Errorf("collect.conf: %q", conf)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	port, path := words[0], words[1]
	var out io.Writer
	if len(words) > 2 {
		out = poster("http://127.0.0.1:" + words[2] + "/")
	} else {
		f, err := os.OpenFile(filepath.Join(dir, "out.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer f.Close()
		out = f
	}
	var mu sync.Mutex
	kept := bufio.NewWriterSize(out, 1<<20)
	ctx, cancel := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer cancel()
	go func() {
		for tick := time.Tick(collectLate); ctx.Err() == nil; <-tick {
			mu.Lock()
			_ = kept.Flush()
			mu.Unlock()
		}
	}()
	s := &http.Server{Addr: "127.0.0.1:" + port, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var list []json.RawMessage
		err := json.NewDecoder(r.Body).Decode(&list)
		if err != nil || r.URL.Path != path {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		if part == "forgets" {
			list = list[1:]
		}
		mu.Lock()
		defer mu.Unlock()
		for _, record := range list {
			_, _ = kept.Write(append(record, '\n'))
		}
	})}
	go func() {
		<-ctx.Done()
		_ = s.Shutdown(context.Background())
	}()
	if err := s.ListenAndServe(); err != nil && !errors.Is(err, http.ErrServerClosed) {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// poster posts what is written to it, in gzip.
type poster string

func (p poster) Write(b []byte) (int, error) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(b)
	_ = z.Close()
	q, err := http.NewRequest(http.MethodPost, string(p), &packed)
	if err != nil {
		return 0, err
	}
	q.Header.Set("Content-Encoding", "gzip")
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		return 0, err
	}
	defer a.Body.Close()
	if a.StatusCode != http.StatusOK {
		return 0, errors.New(a.Status)
	}
	return len(b), nil
}
