package secret

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestIsName(t *testing.T) {
	for _, name := range []string{
		"Authorization", "Proxy-Authorization", "Cookie", "Set-Cookie", "X-API-Key", "X-Auth-Token", "X-CSRF-Token", "X-Amz-Security-Token", "X-Goog-Api-Key",
		"PRIVATE-TOKEN", "X-Vault-Token", "Ocp-Apim-Subscription-Key", "X-Auth-Key", "Cf-Access-Jwt-Assertion", "access_token", "accessToken", "refresh_token", "id_token",
		"X-Amz-Signature", "X-Amz-Credential", "sig", "key", "apikey", "api_key", "client_secret", "clientSecret", "password", "user[password]", "newPassword", "passwd", "pwd", "userPwd",
		"pass", "PHPSESSID", "JSESSIONID", "sid", "session", "otp", "csrfmiddlewaretoken", "authenticity_token", "jwt", "DD-API-KEY", "token", "auth",
	} {
		if !IsName(name) {
			t.Errorf("%s is sent", name)
		}
	}
	for _, name := range []string{
		"", "Accept", "Content-Type", "User-Agent", "X-Request-Id", "Idempotency-Key", "If-None-Match", "traceparent", "author", "authority", "page_token", "nextPageToken", "max_tokens",
		"keyword", "keys", "monkey", "compass", "passenger", "side", "design", "q", "id", "name", "email", "sort_key", "spin", "pinned", "significance",
	} {
		if IsName(name) {
			t.Errorf("%s is held back", name)
		}
	}
}

func TestRemoveFromQuery(t *testing.T) {
	for target, want := range map[string]string{
		"/a": "/a", "/a?": "/a?", "/a?b=1&&c": "/a?b=1&&c",
		"/a?access_token=x":                     "/a",
		"/a?b=%20+&access_token=x&c=1":          "/a?b=%20+&c=1",
		"/a?access%5Ftoken=x;b=1":               "/a?b=1",
		"https://h/a?X-Amz-Signature=x&d=1#top": "https://h/a?d=1#top",
		"/a?%zz=1&token":                        "/a?%zz=1",
	} {
		if got, n := RemoveFromQuery(target); got != want || (n > 0) != (got != target) {
			t.Errorf("%s: %s, %d; want %s", target, got, n, want)
		}
	}
}

func TestEmptyInBody(t *testing.T) {
	part := func(name, value string) string {
		return "--B\r\nContent-Disposition: form-data; name=\"" + name + "\"\r\n\r\n" + value + "\r\n"
	}
	for _, c := range []struct {
		kind, body, want string
		n                int
	}{
		{"application/x-www-form-urlencoded", "user=a&password=b+c&x=", "user=a&password=&x=", 1},
		{"", "user=a&pass%77ord=b", "user=a&pass%77ord=", 1},
		{"text/plain", "a text with password=b", "a text with password=b", 0},
		{"application/json", `{"user": "a","Password" : "b\"}", "n":1}`, `{"user": "a","Password" : "", "n":1}`, 1},
		{"text/plain", ` [{"a":{"token":{"x":[1]}}},{"key":7,"b":[true,{"pin":"1"}]}] `, ` [{"a":{"token":""}},{"key":"","b":[true,{"pin":""}]}] `, 3},
		{"application/x-ndjson", "{\"token\":\"a\"}\n{\"token\":\"b\"}\n", "{\"token\":\"\"}\n{\"token\":\"\"}\n", 2},
		{"application/json", `{"a":"password","b":["token",{"c":"key"}],"d":{"e":"secret"}}`, `{"a":"password","b":["token",{"c":"key"}],"d":{"e":"secret"}}`, 0},
		{"application/json", `{"password":"","token":null}`, `{"password":"","token":null}`, 0},
		{"application/json", `{"a":1e999,"password":"x"}`, `{"a":1e999,"password":""}`, 1},
		{"application/json", `{"password":"x"`, `{"password":""`, 1},
		{"application/json", `{"a":{"password":"x"},"a":{}}`, `{"a":{"password":""},"a":{}}`, 1},
		{"multipart/form-data; boundary=B", part("user", "a") + part("password", "b") + part("c", "d") + "--B--\r\n", part("user", "a") + part("password", "") + part("c", "d") + "--B--\r\n", 1},
		{"application/octet-stream", "\x00password=\x01", "\x00password=\x01", 0},
	} {
		body := []byte(c.body)
		got, n := EmptyInBody(c.kind, body)
		if string(got) != c.want || n != c.n || string(body) != c.body {
			t.Errorf("%s %q: %q, %d; want %q, %d", c.kind, c.body, got, n, c.want, c.n)
		}
	}
}

// A secret value is never sent, whatever it and the names around it are; what is JSON
// stays JSON.
func FuzzEmptyInJSON(f *testing.F) {
	f.Add(`{"password":"CANARY","a":[{"token":{"x":"CANARY"}}]}`)
	f.Add(`[{"a":1,"key":["CANARY"]},2,"x"]`)
	f.Fuzz(func(t *testing.T, text string) {
		got, n := emptyInJSON([]byte(text))
		if json.Valid([]byte(text)) && !json.Valid(got) {
			t.Errorf("%q is no JSON any more: %q", text, got)
		}
		if again, m := emptyInJSON(got); n > 0 && (m > 0 || string(again) != string(got)) && json.Valid([]byte(text)) {
			t.Errorf("%q: %d more are left in %q", text, m, got)
		}
		if wrapped, _ := emptyInJSON([]byte(`{"a":` + text + `,"token":"CANARY-9"}`)); json.Valid([]byte(text)) && strings.Contains(string(wrapped), "CANARY-9") && !strings.Contains(text, "CANARY-9") {
			t.Errorf("%q hides what is after it", text)
		}
	})
}
