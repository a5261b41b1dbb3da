package rpc

import (
	"context"
	"errors"
	"fmt"

	"github.com/tarebench/tare/apps/users"
)

// ByPolicy returns a client with the connections of t.Policy. dial makes a client with one connection.
func ByPolicy(t Target, dial func() (Client, error)) (Client, error) {
	switch t.Policy {
	case Pool:
		return newPool(max(1, t.Callers), dial)
	case One:
		return dial()
	case Fresh: // dial for each call
		return borrowedClient{
			take:  func(context.Context) (Client, error) { return dial() },
			give:  func(c Client) { _ = c.Close() },
			close: func() error { return nil },
		}, nil
	}
	return nil, fmt.Errorf("unknown policy %q", t.Policy)
}

// newPool dials n clients. It returns a client that makes each call with one of them that is free.
func newPool(n int, dial func() (Client, error)) (Client, error) {
	var clients []Client
	closeAll := func() error {
		var err error
		for _, c := range clients {
			err = errors.Join(err, c.Close())
		}
		return err
	}
	free := make(chan Client, n)
	for range n {
		c, err := dial()
		if err != nil {
			return nil, errors.Join(err, closeAll())
		}
		clients = append(clients, c)
		free <- c
	}
	take := func(ctx context.Context) (Client, error) {
		select {
		case c := <-free:
			return c, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return borrowedClient{take: take, give: func(c Client) { free <- c }, close: closeAll}, nil
}

// borrowedClient takes a client for each call, and returns it afterwards.
type borrowedClient struct {
	take  func(ctx context.Context) (Client, error)
	give  func(c Client)
	close func() error
}

func (b borrowedClient) Create(ctx context.Context, d users.Draft) (users.User, error) {
	c, err := b.take(ctx)
	if err != nil {
		return users.User{}, err
	}
	defer b.give(c)
	return c.Create(ctx, d)
}

func (b borrowedClient) Get(ctx context.Context, id int64) (users.User, error) {
	c, err := b.take(ctx)
	if err != nil {
		return users.User{}, err
	}
	defer b.give(c)
	return c.Get(ctx, id)
}

func (b borrowedClient) Update(ctx context.Context, id int64, d users.Draft) (users.User, error) {
	c, err := b.take(ctx)
	if err != nil {
		return users.User{}, err
	}
	defer b.give(c)
	return c.Update(ctx, id, d)
}

func (b borrowedClient) Delete(ctx context.Context, id int64) error {
	c, err := b.take(ctx)
	if err != nil {
		return err
	}
	defer b.give(c)
	return c.Delete(ctx, id)
}

func (b borrowedClient) List(ctx context.Context, q users.Query) (users.Page, error) {
	c, err := b.take(ctx)
	if err != nil {
		return users.Page{}, err
	}
	defer b.give(c)
	return c.List(ctx, q)
}

func (b borrowedClient) Close() error { return b.close() }
