package relay_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/tarebench/tare/load/relay"
)

// A server at a distance of 20 ms.
func Example() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "hello")
	}))
	defer server.Close()

	r, err := relay.Listen(strings.TrimPrefix(server.URL, "http://"), relay.Options{Delay: 20 * time.Millisecond})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()

	begin := time.Now()
	answer, err := http.Get("http://" + r.Addr())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer answer.Body.Close()
	body, _ := io.ReadAll(answer.Body)
	fmt.Println(string(body), time.Since(begin) >= 20*time.Millisecond)
	http.DefaultClient.CloseIdleConnections()
	// Output: hello true
}
