package users_test

import (
	"errors"
	"fmt"
	"net/mail"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/tarebench/tare/apps/users"
)

func TestDraft(t *testing.T) {
	name := func(s string) users.Draft { return users.Draft{Name: s, Email: "a@example.org"} }
	email := func(s string) users.Draft { return users.Draft{Name: "Ann", Email: s} }
	long := strings.Repeat("x", 242) + "@example.org" // 254 bytes
	for _, c := range []struct {
		draft users.Draft
		want  string // normal name and e-mail, or the message
	}{
		{users.Draft{Name: " \tAnn Öl\r\n", Email: "\n Ann.Öl@EXAMPLE.org "}, "Ann Öl ann.öl@example.org"},
		{name("Ann"), "Ann a@example.org"},
		{name("王小明"), "王小明 a@example.org"},
		{name(strings.Repeat("é", 100)), strings.Repeat("é", 100) + " a@example.org"},
		{name("  An "), "name: 3 to 100 characters, not 2"},
		{name(""), "name: 3 to 100 characters, not 0"},
		{name("\u2003\u00a0"), "name: 3 to 100 characters, not 0"},
		{name(strings.Repeat("é", 101)), "name: 3 to 100 characters, not 101"},
		{name("A\x00nn"), "name: no control characters"},
		{name("Ann\nB"), "name: no control characters"},
		{name("Ann\u0085B"), "name: no control characters"},
		{name("Ann\xffB"), "name: not UTF-8"},
		{users.Draft{Name: "An", Email: "x"}, "name: 3 to 100 characters, not 2"},
		{email("a@b"), "Ann a@b"},
		{email("A.B+c@D-e.example"), "Ann a.b+c@d-e.example"},
		{email("o'brien@example.org"), "Ann o'brien@example.org"},
		{email("a@[127.0.0.1]"), "Ann a@[127.0.0.1]"},
		{email(long), "Ann " + long},
		{email("x" + long), "email: at most 254 bytes, not 255"},
		{email("a\xff@example.org"), "email: not an address"},
		{email("Ann <a@example.org>"), "email: not an address"},
		{email("<a@example.org>"), "email: not an address"},
		{email("a@example.org (Ann)"), "email: not an address"},
		{email(`"a"@example.org`), "email: not an address"},
		{email(`"a b"@example.org`), "email: not an address"},
		{email("a@example.org, b@example.org"), "email: not an address"},
		{email("a@b@example.org"), "email: not an address"},
		{email("@example.org"), "email: not an address"},
		{email("a@"), "email: not an address"},
		{email("a"), "email: not an address"},
		{email(""), "email: not an address"},
		{email(".a@example.org"), "email: not an address"},
		{email("a..b@example.org"), "email: not an address"},
		{email("a.@example.org"), "email: not an address"},
		{email("a@example..org"), "email: not an address"},
		{email("a@example.org."), "email: not an address"},
		{email("a b@example.org"), "email: not an address"},
		{email("a@exa mple.org"), "email: not an address"},
		{email("a\x00@example.org"), "email: not an address"},
	} {
		d := c.draft.Normal()
		got, err := d.Name+" "+d.Email, d.Check()
		if err != nil {
			e := users.RefusalOf(err)
			if got = e.Message; e.Code != users.InvalidArgument || e.HTTP() != 400 {
				t.Errorf("%+q: %+v", c.draft, e)
			}
		}
		if got != c.want {
			t.Errorf("%+q: %q, want %q", c.draft, got, c.want)
		}
	}
}

func TestQuery(t *testing.T) {
	for _, c := range []struct {
		query users.Query
		want  string // normal, or the message
	}{
		{users.Query{}, ` 1 10`},
		{users.Query{Text: " ÅB c\t", Page: 7, Limit: 3}, `åb c 7 3`},
		{users.Query{Limit: 1000}, ` 1 100`},
		{users.Query{Page: -1, Limit: -5}, "page: at least 1, not -1"},
		{users.Query{Limit: -5}, "limit: at least 1, not -5"},
		{users.Query{Text: strings.Repeat("é", 254)}, strings.Repeat("é", 254) + " 1 10"},
		{users.Query{Text: strings.Repeat("é", 255)}, "query: at most 254 characters, not 255"},
		{users.Query{Text: "a\x00b"}, "query: no control characters"},
		{users.Query{Text: "\xff"}, "query: not UTF-8"},
	} {
		q := c.query.Normal()
		got := fmt.Sprint(q.Text, " ", q.Page, " ", q.Limit)
		if err := q.Check(); err != nil {
			got = users.RefusalOf(err).Message
		}
		if got != c.want {
			t.Errorf("%+v: %q, want %q", c.query, got, c.want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, s := range []string{"300000000", "-1", "0", "9223372036854775807", "-9223372036854775808"} {
		if id, err := users.ParseID(s); err != nil || fmt.Sprint(id) != s {
			t.Errorf("%s: %d, %v", s, id, err)
		}
	}
	for _, s := range []string{"", "a", "1.0", "1e3", "0x10", " 1", "1 ", "9223372036854775808", "１"} {
		_, err := users.ParseID(s)
		refused(t, s, err, users.InvalidArgument, "id: not a number")
	}
	q, err := users.ParseQuery(" a ", "3", "-7")
	if want := (users.Query{Text: " a ", Page: 3, Limit: -7}); err != nil || q != want {
		t.Errorf("%+v, %v, want %+v", q, err, want)
	}
	if q, err := users.ParseQuery("", "", ""); err != nil || q != (users.Query{}) {
		t.Errorf("%+v, %v", q, err)
	}
	for _, s := range []string{"x", "1.5", "2147483648", " 1", "99999999999999999999"} {
		_, err := users.ParseQuery("", s, "1")
		refused(t, s, err, users.InvalidArgument, "page: not a number")
		_, err = users.ParseQuery("", "1", s)
		refused(t, s, err, users.InvalidArgument, "limit: not a number")
	}
}

// Whatever is sent: what is taken is within its bounds, normal already, and an
// address by itself to package net/mail; and nothing else is refused.
func FuzzDraft(f *testing.F) {
	for _, s := range []string{"a@example.org", " A.B@C.d ", `"a b"@c`, "a@[::1]", "ä@ö.example", "a.@b", "İ@K", "=?utf-8?q?a?=@b", "a@b(c)", "a:b@c;", "\xff@a", "Ⱥ@b", "a\u2028@b", "\u00a0a@b"} {
		f.Add("Some Body", s)
	}
	f.Add("  An ", "a@b")
	f.Add("A\x7fnn", "a@b")
	f.Fuzz(func(t *testing.T, name, email string) {
		d := users.Draft{Name: name, Email: email}.Normal()
		err := d.Check()
		if d.Normal() != d {
			t.Fatalf("%+q is not normal", d)
		}
		n := utf8.RuneCountInString(d.Name)
		good := n >= 3 && n <= 100 && utf8.ValidString(d.Name) && !strings.ContainsFunc(d.Name, unicode.IsControl)
		a, mailErr := mail.ParseAddress(d.Email)
		good = good && len(d.Email) <= 254 && utf8.ValidString(email) && mailErr == nil && *a == mail.Address{Address: d.Email} && !strings.ContainsFunc(d.Email, unicode.IsControl)
		if good != (err == nil) {
			t.Fatalf("%+q: %v", d, err)
		}
		var e *users.Error
		if err != nil && (!errors.As(err, &e) || e.Code != users.InvalidArgument || len(e.Message) > 100 || strings.Contains(e.Message, "\n")) {
			t.Fatalf("%+q: %v", d, err)
		}
	})
}

func BenchmarkCheck(b *testing.B) {
	for name, email := range map[string]string{"plain": "somebody.else@example.org", "other": "sömebody@example.org"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			d := users.Draft{Name: "Somebody Else", Email: email}
			for b.Loop() {
				if err := d.Normal().Check(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
