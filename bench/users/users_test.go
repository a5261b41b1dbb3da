// Package users_test asks what gRPC, Gin and gRPC-Gateway cost in front of the
// same business logic, with nothing but the testing package:
//
//	cd bench/users && GOWORK=off go test -bench . -benchmem
//
// A published comparison ran these benchmarks, under these names, with a client
// and a server in one process, many callers at once, and users in memory. It
// found gRPC four times as fast as REST. Its HTTP clients closed bodies that they
// had not read, so that each request took a connection of its own; its Gin wrote
// a line for each request to a terminal; its store looked at every user for each
// e-mail. Here connections are kept, by clients that read their answers to the
// end, nobody logs, the store is indexed, and all three have the same middleware:
// the servers and clients are those of contenders/rpc, as tare measures them.
// BenchmarkTrap repeats those mistakes, one by one, in lines with a dagger (†).
//
// What is left to read with care: a time is that of one operation where as many
// as GOMAXPROCS are under way, which is not how long one takes; memory is that of
// client and server together; contenders run one after another in one process,
// and nothing says how far apart two runs of the same code are. That is what tare
// run users is for.
package users_test

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/tarebench/tare/apps/users"
	"github.com/tarebench/tare/contender/rpc"
)

func BenchmarkGRPC_CreateUser(b *testing.B)    { createUser(b, grpcFace()) }
func BenchmarkGRPC_GetUser(b *testing.B)       { getUser(b, grpcFace()) }
func BenchmarkGRPC_UpdateUser(b *testing.B)    { updateUser(b, grpcFace()) }
func BenchmarkGRPC_DeleteUser(b *testing.B)    { deleteUser(b, grpcFace()) }
func BenchmarkGRPC_ListUsers(b *testing.B)     { listUsers(b, grpcFace()) }
func BenchmarkGRPC_MixedWorkload(b *testing.B) { mixedWorkload(b, grpcFace()) }

func BenchmarkGin_CreateUser(b *testing.B)    { createUser(b, ginFace()) }
func BenchmarkGin_GetUser(b *testing.B)       { getUser(b, ginFace()) }
func BenchmarkGin_UpdateUser(b *testing.B)    { updateUser(b, ginFace()) }
func BenchmarkGin_DeleteUser(b *testing.B)    { deleteUser(b, ginFace()) }
func BenchmarkGin_ListUsers(b *testing.B)     { listUsers(b, ginFace()) }
func BenchmarkGin_MixedWorkload(b *testing.B) { mixedWorkload(b, ginFace()) }

func BenchmarkGateway_CreateUser(b *testing.B)    { createUser(b, gatewayFace()) }
func BenchmarkGateway_GetUser(b *testing.B)       { getUser(b, gatewayFace()) }
func BenchmarkGateway_UpdateUser(b *testing.B)    { updateUser(b, gatewayFace()) }
func BenchmarkGateway_DeleteUser(b *testing.B)    { deleteUser(b, gatewayFace()) }
func BenchmarkGateway_ListUsers(b *testing.B)     { listUsers(b, gatewayFace()) }
func BenchmarkGateway_MixedWorkload(b *testing.B) { mixedWorkload(b, gatewayFace()) }

// seeded is how many users there are at first.
const seeded = 1000

func createUser(b *testing.B, f face) {
	measure(b, f, seeded, create)
}

func getUser(b *testing.B, f face) {
	measure(b, f, seeded, get)
}

func updateUser(b *testing.B, f face) {
	measure(b, f, seeded, update)
}

// deleteUser begins with as many users as it will delete.
func deleteUser(b *testing.B, f face) {
	measure(b, f, b.N, func(ctx context.Context, c rpc.Client, n int64) error {
		return c.Delete(ctx, users.FirstID+n)
	})
}

func listUsers(b *testing.B, f face) {
	measure(b, f, seeded, list)
}

// mixedWorkload creates, gets, updates and lists in equal parts.
func mixedWorkload(b *testing.B, f face) {
	turns := []operation{create, get, update, list}
	measure(b, f, seeded, func(ctx context.Context, c rpc.Client, n int64) error {
		return turns[n%int64(len(turns))](ctx, c, n)
	})
}

// operation does the n-th of a benchmark's operations, from zero.
type operation func(ctx context.Context, c rpc.Client, n int64) error

func create(ctx context.Context, c rpc.Client, n int64) error {
	_, err := c.Create(ctx, users.Draft{Name: "Somebody New", Email: fmt.Sprintf("n%09d@example.com", n)})
	return err
}

func get(ctx context.Context, c rpc.Client, n int64) error {
	id := users.FirstID + n%seeded
	u, err := c.Get(ctx, id)
	if err == nil && u.ID != id {
		err = fmt.Errorf("user %d, want %d", u.ID, id)
	}
	return err
}

func update(ctx context.Context, c rpc.Client, n int64) error {
	_, err := c.Update(ctx, users.FirstID+n%seeded, users.Draft{Name: "Somebody Else", Email: fmt.Sprintf("w%09d@example.com", n)})
	return err
}

func list(ctx context.Context, c rpc.Client, n int64) error {
	p, err := c.List(ctx, users.Query{Page: int(n%10) + 1})
	if err == nil && len(p.Users) != users.DefaultLimit {
		err = fmt.Errorf("%d users on a page", len(p.Users))
	}
	return err
}

// measure does b.N operations on a store of n users, as many at once as there are
// processors.
func measure(b *testing.B, f face, n int, do operation) {
	s := f.serve(b, n)
	c := s.dial(b, runtime.GOMAXPROCS(0))
	if _, err := c.List(b.Context(), users.Query{Limit: 1}); err != nil { // connects
		b.Fatal(err)
	}
	var next atomic.Int64
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := do(b.Context(), c, next.Add(1)-1); err != nil {
				b.Error(err)
				return
			}
		}
	})
	b.StopTimer()
}
