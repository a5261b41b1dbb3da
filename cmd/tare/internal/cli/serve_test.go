package cli_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"time"
)

// serve PORT [deaf|child] is a server for the scripts: it answers ok to
// anything, 302 and 503 where the path asks for it. It never accepts a
// connection if it is deaf, and is only the parent of one that serves with
// child.
func serve() {
	how := ""
	if len(os.Args) > 2 {
		how = os.Args[2]
	}
	switch how {
	case "deaf":
		time.Sleep(time.Minute)
	case "gone":
		fmt.Fprintln(os.Stderr, "no configuration")
		os.Exit(3)
	case "child":
		self, _ := os.Executable()
		child := exec.Command(self, os.Args[1])
		child.Stdout, child.Stderr = os.Stdout, os.Stderr
		child.Run()
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/moved":
			http.Redirect(w, r, "http://192.0.2.1/", http.StatusFound)
		case "/broken":
			http.Error(w, "broken", http.StatusServiceUnavailable)
		default:
			io.WriteString(w, "ok\n")
		}
	}))
}
