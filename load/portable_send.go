package load

// bigPiece is the size in bytes from which what is to be sent is poured: sent
// while the answer is read, because the server may answer before it has read
// everything, or stop reading until it has been read from.
const bigPiece = 32 << 10

// flush sends what the framer owes, unless somebody is at it.
func (c *socket) flush() {
	for {
		c.out.Lock()
		if c.pouring != nil || c.werr != nil {
			c.out.Unlock()
			return
		}
		b := c.f.owed()
		if len(b) >= bigPiece {
			c.pouring = make(chan struct{})
			go c.pour(b, c.pouring)
			b = nil
		}
		c.out.Unlock()
		if len(b) == 0 {
			return
		}
		var n int
		n, c.werr = c.conn.Write(b)
		c.sent += n
	}
}

// pour sends b, and what the framer owes by then, until it owes nothing.
func (c *socket) pour(b []byte, over chan struct{}) {
	defer close(over)
	for {
		n, err := c.conn.Write(b)
		c.out.Lock()
		c.sent += n
		if c.werr = err; err == nil {
			b = c.f.owed()
		}
		if err != nil || len(b) == 0 {
			c.pouring = nil
			c.out.Unlock()
			return
		}
		c.out.Unlock()
	}
}

// feed has the framer take what came.
func (c *socket) feed(b []byte) (answer, error) {
	c.out.Lock()
	defer c.out.Unlock()
	err := c.f.feed(b)
	return c.f.answer(), err
}

// settle ends the sending of a request that was answered or given up, and puts
// down how many bytes went each way. Its error is why sending failed.
func (c *socket) settle(x *exchange) (answer, error) {
	c.out.Lock()
	err, over := c.werr, c.pouring
	c.out.Unlock()
	if over != nil { // not all was sent
		c.interrupt()
		<-over
	}
	a := c.f.answer()
	a.unsent = a.unsent || over != nil
	x.out, x.in = x.out+c.sent, x.in+c.got
	c.sent, c.got = 0, 0
	return a, err
}
