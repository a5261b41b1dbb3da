package main

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// This file runs the command tare load in three ways: without progress, with progress on a terminal, and
// with progress in a browser. Comparing them shows the cost of each.

// tareQuiet runs tare load without progress. It is the only tool of tare that speaks HTTP/3.
type tareQuiet struct{ path string } // path of the tare binary

func (tareQuiet) name() string      { return "tare" }
func (q tareQuiet) program() string { return q.path }

func (tareQuiet) args(j job) []string {
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

func (tareQuiet) read(output []byte) (report, error) { return parseReport(output) }

// tareLive runs tare load with progress on a terminal, from the program script (util-linux).
type tareLive struct {
	tareQuiet
	document string // file to which tare load writes its report
}

func (tareLive) name() string    { return "tare, live view" }
func (tareLive) program() string { return "script" }

func (l tareLive) args(j job) []string {
	if j.way != views {
		return nil
	}
	var line strings.Builder
	line.WriteString("stty rows 50 columns 200; exec '" + l.path + "'")
	for _, a := range l.tareQuiet.args(j) {
		if a != "-q" {
			line.WriteString(" '" + a + "'")
		}
	}
	return []string{"-qec", line.String() + " >'" + l.document + "'", "/dev/null"}
}

// tareWatched runs tare load with --watch: it serves its progress as a page, which watchPage reads.
type tareWatched struct {
	tareQuiet
	addr string // address of the page
}

func (tareWatched) name() string { return "tare, --watch" }

func (w tareWatched) args(j job) []string {
	if j.way != views {
		return nil
	}
	args := w.tareQuiet.args(j)
	return append([]string{args[0], "--watch", w.addr}, args[1:]...)
}

// watchPage requests the page's events again and again, like a browser, until end is called. It ignores
// errors: the page exists only while tare load runs.
func (w tareWatched) watchPage() (end func()) {
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
