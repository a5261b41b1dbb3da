package users_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/tarebench/tare/apps/users"
)

func BenchmarkService(b *testing.B) {
	ctx := context.Background()
	for _, c := range []struct {
		store string
		n     int
	}{{users.MemoryStore, 1000}, {users.MemoryStore, 1_000_000}, {users.LinearStore, 10_000}} {
		b.Run(fmt.Sprintf("%s-%d", c.store, c.n), func(b *testing.B) {
			s := users.New(users.Config{}, open(b, c.store, c.n))
			run := func(name string, call func(i int) error) {
				b.Run(name, func(b *testing.B) {
					if err := s.Reset(ctx, c.n); err != nil {
						b.Fatal(err)
					}
					b.ReportAllocs()
					i := 0
					for b.Loop() {
						if err := call(i); err != nil {
							b.Fatal(err)
						}
						i++
					}
				})
			}
			id := func(i int) int64 { return users.FirstID + int64(i*7919%c.n) }
			draft := func(i int) users.Draft {
				return users.Draft{Name: "Somebody Else", Email: fmt.Sprintf("s%09d@example.org", i)}
			}
			run("create", func(i int) error { _, err := s.Create(ctx, draft(i)); return err })
			run("get", func(i int) error { _, err := s.Get(ctx, id(i)); return err })
			run("update", func(i int) error { _, err := s.Update(ctx, id(i), draft(i)); return err })
			run("list", func(i int) error { _, err := s.List(ctx, users.Query{Page: 1 + i*7919%(c.n/10)}); return err })
			run("search", func(int) error { _, err := s.List(ctx, users.Query{Text: "papa"}); return err })
			run("create+delete", func(i int) error {
				u, err := s.Create(ctx, draft(i))
				if err != nil {
					return err
				}
				return s.Delete(ctx, u.ID)
			})
			run("reset after 1000 updates", func(int) error {
				for i := range 1000 {
					if _, err := s.Update(ctx, users.FirstID+int64(i%c.n), draft(i)); err != nil {
						return err
					}
				}
				return s.Reset(ctx, c.n)
			})
		})
	}
}
