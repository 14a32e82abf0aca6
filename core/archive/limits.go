package archive

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// Limits bound what Read takes. Each is far above what a mesh of 100,000
// endpoints needs.
type Limits struct {
	Bytes  int64 // after decompression
	Line   int   // bytes of one record
	Depth  int   // nesting of one record
	Values int   // JSON values of the whole archive
	// Ratio of decompressed to compressed bytes, beyond the first MiB.
	Ratio int64
}

// DefaultLimits are the limits that commands and pages read with.
func DefaultLimits() Limits {
	return Limits{Bytes: 1 << 30, Line: 128 << 20, Depth: 64, Values: 24 << 20, Ratio: 200}
}

// ratioFrom is the size from which on the ratio counts: small archives of much
// the same compress without bound.
const ratioFrom = 1 << 20

// Errors that Read wraps.
var (
	ErrFormat = errors.New("not an archive of Edsight")
	ErrLimit  = errors.New("archive exceeds a limit")
)

// lines reads the lines of a compressed stream within limits.
type lines struct {
	limits     Limits
	compressed countReader
	zip        *gzip.Reader
	buf        *bufio.Reader
	plain      int64
	values     int
}

type countReader struct {
	r io.Reader
	n int64
}

func (c *countReader) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	c.n += int64(n)
	return n, err
}

func newLines(r io.Reader, limits Limits) (*lines, error) {
	l := &lines{limits: limits, compressed: countReader{r: r}}
	zr, err := gzip.NewReader(&l.compressed)
	if errors.Is(err, gzip.ErrHeader) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil, fmt.Errorf("%w: it is no gzip file, as \"edsight snapshot\" and the page of snapshots write them, named *%s", ErrFormat, Extension)
	}
	if err != nil {
		return nil, err
	}
	l.zip = zr
	l.zip.Multistream(false)
	l.buf = bufio.NewReaderSize(l.zip, 1<<16)
	return l, nil
}

// next returns the next line, which is good until the next call; io.EOF at the end.
func (l *lines) next(line []byte) ([]byte, error) {
	line = line[:0]
	for {
		part, err := l.buf.ReadSlice('\n')
		l.plain += int64(len(part))
		line = append(line, part...)
		if err := l.checkSize(len(line)); err != nil {
			return line, err
		}
		switch {
		case err == nil:
			return line, l.checkShape(line)
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(line) > 0:
			return line, io.ErrUnexpectedEOF
		default:
			return line, err
		}
	}
}

func (l *lines) checkSize(line int) error {
	switch {
	case line > l.limits.Line:
		return fmt.Errorf("%w: a record is longer than %d bytes", ErrLimit, l.limits.Line)
	case l.plain > l.limits.Bytes:
		return fmt.Errorf("%w: it holds more than %d bytes", ErrLimit, l.limits.Bytes)
	case l.plain > ratioFrom && l.plain/l.limits.Ratio > l.compressed.n:
		return fmt.Errorf("%w: it is compressed by more than %d to 1", ErrLimit, l.limits.Ratio)
	}
	return nil
}

// checkShape counts depth and values before anything is decoded.
func (l *lines) checkShape(line []byte) error {
	depth, quoted := 0, false
	for i := 0; i < len(line); i++ {
		c := line[i]
		switch {
		case quoted:
			switch c {
			case '\\':
				i++
			case '"':
				quoted = false
			}
		case c == '"':
			quoted = true
		case c == '{' || c == '[':
			depth++
			l.values++
		case c == '}' || c == ']':
			depth--
		case c == ',':
			l.values++
		}
		if depth > l.limits.Depth {
			return fmt.Errorf("%w: it is nested deeper than %d", ErrLimit, l.limits.Depth)
		}
		if l.values > l.limits.Values {
			return fmt.Errorf("%w: it holds more than %d values", ErrLimit, l.limits.Values)
		}
	}
	return nil
}
