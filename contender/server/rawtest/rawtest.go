// Package rawtest has raw HTTP/1 requests, most of them malformed, to test services. Many contain a second
// request, for /smuggled, that could belong to the first's body. A server that answers it found another end
// than intended. A proxy might differ (request smuggling).
package rawtest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// Case is a request with the expected answer.
type Case struct {
	Name string
	Text string // bytes to send
	// Status is that of the only answer. 0 means that the request is correct, with any answer.
	Status int
	// Framings is the number of ways to find the end of the body. If there are several, a server must reject
	// the request and close the connection.
	Framings int
}

// Smuggled is the request that must not be answered.
const Smuggled = "GET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n"

// Cases returns all requests. path must accept GET, and POST with a JSON body.
func Cases(path string) (list []Case) {
	// The functions add a request with its status, 0 if correct. Lines have no ends. An ambiguous body has two
	// possible ends.
	addPost := func(name string, status, framings int, body string, fields []string) {
		list = append(list, Case{name, "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n" + strings.Join(fields, "\r\n") + "\r\n\r\n" + body, status, framings})
	}
	post := func(name string, status int, body string, fields ...string) { addPost(name, status, 1, body, fields) }
	ambiguous := func(name string, status int, body string, fields ...string) { addPost(name, status, 2, body, fields) }
	get := func(name string, status int, line string, fields ...string) {
		list = append(list, Case{name, line + "\r\n" + strings.Join(append(fields, "", ""), "\r\n"), status, 1})
	}
	const chunked = "Transfer-Encoding: chunked"
	last := "0\r\n\r\n" + Smuggled // the last chunk, then the other request
	number := func(n string) string { return "Content-Length: " + n }

	ambiguous("two lengths", 400, "[]"+Smuggled, number("2"), number("49"))
	ambiguous("two lengths, the longer first", 400, "[]"+Smuggled, number("49"), number("2"))
	post("the same length twice", 400, "[]", number("2"), number("2"))
	ambiguous("a list of lengths", 400, "[]"+Smuggled, number("2, 49"))
	post("a list of the same length", 400, "[]", number("2, 2"))
	ambiguous("a signed length", 400, "[]"+Smuggled, number("+2"))
	ambiguous("a negative length", 400, Smuggled, number("-1"))
	ambiguous("a hexadecimal length", 400, "[]"+Smuggled, number("0x2"))
	ambiguous("a length with an underscore", 400, "[]"+Smuggled, number("4_9"))
	ambiguous("a length with a space inside", 400, "[]"+Smuggled, number("4 9"))
	ambiguous("a length beyond 64 bits", 400, "[]"+Smuggled, number("18446744073709551618"))
	ambiguous("no length", 400, Smuggled, "Content-Length:")
	ambiguous("a space before the colon of the length", 400, "[]"+Smuggled, "Content-Length : 2")
	ambiguous("length and chunks", 400, last, number("5"), chunked)
	ambiguous("chunks and length", 400, last, chunked, number("54"))
	ambiguous("chunks and the length 0", 400, last, chunked, number("0"))
	ambiguous("a space before the colon of the coding", 400, last, "Transfer-Encoding : chunked")
	ambiguous("a tab before the colon of the coding", 400, last, "Transfer-Encoding\t: chunked")
	ambiguous("length, and a coding with a space before the colon", 400, last, number("5"), "Transfer-Encoding : chunked")
	ambiguous("an unknown coding", 501, last, "Transfer-Encoding: xchunked")
	ambiguous("an unknown coding and a length", 400, last, "Transfer-Encoding: identity", number("5"))
	ambiguous("identity", 501, last, "Transfer-Encoding: identity")
	ambiguous("a list of codings", 501, last, "Transfer-Encoding: gzip, chunked")
	ambiguous("chunked is not the last", 501, last, "Transfer-Encoding: chunked, identity")
	ambiguous("chunked twice", 501, last, "Transfer-Encoding: chunked, chunked")
	ambiguous("two codings", 400, last, chunked, "Transfer-Encoding: identity")
	ambiguous("two chunked", 400, last, chunked, chunked)
	ambiguous("a quoted coding", 501, last, `Transfer-Encoding: "chunked"`)
	ambiguous("an empty coding", 501, last, "Transfer-Encoding:")
	ambiguous("a coding behind a vertical tab", 400, last, "Transfer-Encoding: \x0bchunked")
	ambiguous("a coding in a folded line", 400, last, "Transfer-Encoding:\r\n chunked")
	ambiguous("a coding behind a bare carriage return", 400, last, "X: y\rTransfer-Encoding: chunked")
	ambiguous("a coding behind a bare line feed", 400, last, "X: y\nTransfer-Encoding: chunked")
	list = append(list,
		Case{"HTTP/1.0 with chunks and a length", "POST " + path + " HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n" + last, 400, 2},
		Case{"HTTP/1.0 with chunks", "POST " + path + " HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n" + last, 400, 2})

	post("chunks", 0, "2\r\n[]\r\n0\r\n\r\n", chunked)
	post("Chunked", 0, "2;a=b\r\n[]\r\n0\r\nX: y\r\n\r\n", "transfer-encoding: \tChunked ")
	post("a length", 0, "[]", number("2"))
	ambiguous("a chunk's size with a sign", 400, "+2\r\n[]\r\n"+last, chunked)
	ambiguous("a chunk's size with 0x", 400, "0x2\r\n[]\r\n"+last, chunked)
	ambiguous("a chunk's size beyond 64 bits", 400, "10000000000000002\r\n[]\r\n"+last, chunked)
	ambiguous("a chunk without a size", 400, "\r\n[]\r\n"+last, chunked)
	ambiguous("a chunk's size behind a space", 400, " 2\r\n[]\r\n"+last, chunked)
	ambiguous("a chunk that is longer than its size", 400, "2\r\n[]]\r\n"+last, chunked)
	ambiguous("a bare line feed behind a chunk's size", 400, "2\n[]\r\n"+last, chunked)
	ambiguous("a bare line feed in a chunk's extension", 400, "2;\n[]\r\n"+last, chunked)
	ambiguous("a bare line feed behind a chunk", 400, "2\r\n[]\n"+last, chunked)
	post("a trailer with a space before the colon", 400, "0\r\nX : y\r\n\r\n", chunked)

	get("a path", 0, "GET "+path+" HTTP/1.1", "Host: localhost")
	get("HTTP/1.0", 0, "GET "+path+" HTTP/1.0", "Host: localhost", "Connection: keep-alive")
	get("the whole address", 0, "GET http://localhost"+path+" HTTP/1.1", "Host: localhost")
	get("the whole address, of another host", 400, "GET http://localhost"+path+" HTTP/1.1", "Host: 127.0.0.1")
	get("no host", 400, "GET "+path+" HTTP/1.1")
	get("two hosts", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "Host: evil.example")
	get("the same host twice", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "Host: localhost")
	get("another host", 421, "GET "+path+" HTTP/1.1", "Host: evil.example")
	get("a host with a path", 400, "GET "+path+" HTTP/1.1", "Host: localhost/x")
	get("a host with a user", 400, "GET "+path+" HTTP/1.1", "Host: localhost@evil.example")
	get("a folded field", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "X: y", " z")
	get("a folded first field", 400, "GET "+path+" HTTP/1.1", " Host: localhost", "Host: localhost")
	get("a field without a colon", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "X")
	get("a field without a name", 400, "GET "+path+" HTTP/1.1", "Host: localhost", ": y")
	get("a name with a space", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "X Y: z")
	get("a name with a control byte", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "X\x01: z")
	get("a value with a zero byte", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "X: y\x00z")
	get("a value with a bare carriage return", 400, "GET "+path+" HTTP/1.1", "Host: localhost", "X: y\rz")
	get("a target with a control byte", 400, "GET "+path+"\x01 HTTP/1.1", "Host: localhost")
	get("a target with a zero byte", 400, "GET "+path+"\x00 HTTP/1.1", "Host: localhost")
	get("a target with a tab", 400, "GET "+path+"\tx HTTP/1.1", "Host: localhost")
	get("a target with a space", 400, "GET "+path+" x HTTP/1.1", "Host: localhost")
	get("a target with a byte beyond ASCII", 400, "GET "+path+"\xff HTTP/1.1", "Host: localhost")
	get("a target with a delete", 400, "GET "+path+"\x7f HTTP/1.1", "Host: localhost")
	get("a target with a fragment", 400, "GET "+path+"#x HTTP/1.1", "Host: localhost")
	get("a target with half an escape", 400, "GET "+path+"/%4 HTTP/1.1", "Host: localhost")
	get("a target with an invalid escape", 400, "GET "+path+"/%zz HTTP/1.1", "Host: localhost")
	get("a query with an invalid escape", 0, "GET "+path+"?a=%zz HTTP/1.1", "Host: localhost")
	get("a head of nearly 32 KiB", 0, "GET "+path+" HTTP/1.1", "Host: localhost", "X: "+strings.Repeat("y", 32<<10-100))
	get("a head of more than 32 KiB", 431, "GET "+path+" HTTP/1.1", "Host: localhost", "X: "+strings.Repeat("y", 32<<10))
	get("no slash", 400, "GET nowhere HTTP/1.1", "Host: localhost")
	get("a star", 400, "GET * HTTP/1.1", "Host: localhost")
	get("two spaces", 400, "GET  "+path+" HTTP/1.1", "Host: localhost")
	get("a tab in the line", 400, "GET\t"+path+" HTTP/1.1", "Host: localhost")
	get("a space at the end of the line", 400, "GET "+path+" HTTP/1.1 ", "Host: localhost")
	get("a method with a control byte", 400, "G\x01T "+path+" HTTP/1.1", "Host: localhost")
	get("no version", 400, "GET "+path, "Host: localhost")
	get("HTTP/0.9", 505, "GET "+path+" HTTP/0.9", "Host: localhost")
	get("HTTP/1.2", 505, "GET "+path+" HTTP/1.2", "Host: localhost")
	get("HTTP/2.0", 505, "GET "+path+" HTTP/2.0", "Host: localhost")
	get("http/1.1", 400, "GET "+path+" http/1.1", "Host: localhost")
	get("HTTP/1.10", 505, "GET "+path+" HTTP/1.10", "Host: localhost")
	get("a bare line feed behind the line", 400, "GET "+path+" HTTP/1.1\nX: y", "Host: localhost")
	get("an empty line first", 400, "\r\nGET "+path+" HTTP/1.1", "Host: localhost")
	get("another expectation", 417, "GET "+path+" HTTP/1.1", "Host: localhost", "Expect: 200-ok")
	get("201 fields", 431, "GET "+path+" HTTP/1.1", append([]string{"Host: localhost"}, strings.Split(strings.Repeat("X: y\n", 200), "\n")[:200]...)...)
	list = append(list,
		Case{"line feeds", "GET " + path + " HTTP/1.1\nHost: localhost\n\n", 400, 1},
		Case{"a post in text", "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n[]", 415, 1},
		Case{"a post without a type", "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\n[]", 415, 1},
		Case{"a form", "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 2\r\n\r\n[]", 415, 1},
		Case{"two types", "POST " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n[]", 400, 1},
	)
	return list
}

// nextRequest follows a correct request and must be answered too.
const nextRequest = "GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"

// Check sends the request to addr. A wrong one must get one answer and the end of the connection. A correct
// one and nextRequest must both get an answer.
func (c Case) Check(addr string) error {
	got, open, err := c.readAnswers(addr)
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", c.Name, err)
	case open:
		return fmt.Errorf("%s: answers %v, and the connection stays open", c.Name, got)
	case c.Status == 0 && len(got) == 2 && got[1] == http.StatusOK:
		return nil
	case c.Status == 0:
		return fmt.Errorf("%s: answers %v, want one to each of two requests", c.Name, got)
	case len(got) != 1 || got[0] != c.Status:
		return fmt.Errorf("%s: answers %v, want %d only", c.Name, got, c.Status)
	}
	return nil
}

// readAnswers returns all statuses, and whether the connection stays open.
func (c Case) readAnswers(addr string) (statuses []int, open bool, err error) {
	const wait = 5 * time.Second
	conn, err := net.DialTimeout("tcp", addr, wait)
	if err != nil {
		return nil, false, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(wait)); err != nil {
		return nil, false, err
	}
	text := c.Text
	if c.Status == 0 {
		text += nextRequest
	}
	if _, err := io.WriteString(conn, text); err != nil {
		return nil, false, err
	}
	for in := bufio.NewReader(conn); ; {
		if _, err := in.Peek(1); err != nil {
			return statuses, errors.Is(err, os.ErrDeadlineExceeded), nil
		}
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			return statuses, false, err
		}
		if _, err := io.Copy(io.Discard, r.Body); err != nil {
			return statuses, false, err
		}
		statuses = append(statuses, r.StatusCode)
	}
}
