package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// quiet is tare load that prints nothing while it runs. It is the only tool of tare for HTTP/3.
type quiet struct{ path string } // path of the tare binary

func (quiet) name() string      { return "tare" }
func (q quiet) program() string { return q.path }

func (quiet) args(j job) []string {
	args := []string{"load", "-q", "--json", "--no-lock", "--warm", "0s", "--threads", "1", "-c", strconv.Itoa(j.connections), "-d", j.each.String()}
	switch {
	case j.rate > 0:
		return nil
	case j.way == h3:
		args = append(args, "--http", "3", "--insecure", "--streams", strconv.Itoa(max(1, j.streams)))
	case j.way != views:
		return nil
	}
	return append(args, j.url())
}

func (quiet) read(output []byte) (r report, err error) {
	err = json.Unmarshal(output, &r)
	return r, err
}

// live is tare load on a terminal, on which it draws once a second.
type live struct {
	quiet
	document string // path of the file with its results
}

func (live) name() string    { return "tare, live view" }
func (live) program() string { return "script" }

func (l live) args(j job) []string {
	if j.way != views {
		return nil
	}
	var line strings.Builder
	line.WriteString("stty rows 50 columns 200; exec '" + l.path + "'")
	for _, a := range l.quiet.args(j) {
		if a != "-q" {
			line.WriteString(" '" + a + "'")
		}
	}
	return []string{"-qec", line.String() + " >'" + l.document + "'", "/dev/null"}
}

// watched is tare load with a page that a browser reads.
type watched struct {
	quiet
	addr string // address of the page
}

func (watched) name() string { return "tare, --watch" }

func (w watched) args(j job) []string {
	if j.way != views {
		return nil
	}
	args := w.quiet.args(j)
	return append([]string{args[0], "--watch", w.addr}, args[1:]...)
}

// watchPage reads the events of the page, like a browser, until end is called.
func (w watched) watchPage() (end func()) {
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+w.addr+"/events", nil)
			if err != nil {
				return
			}
			if response, err := http.DefaultClient.Do(r); err == nil {
				_, _ = io.Copy(io.Discard, response.Body)
				response.Body.Close()
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	return func() { cancel(); <-done }
}
