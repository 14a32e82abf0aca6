package server

import (
	"strings"
	"time"

	"github.com/edsight/edsight/core/journal"
	"github.com/edsight/edsight/views"
)

const (
	// deliveryRows is how many rows of a live page are kept up to date, and
	// deliveryFor how long after the last answer.
	deliveryRows = 100
	deliveryFor  = 10 * time.Second
)

// delivered returns how far a transition got; false if it concerned no connected
// proxy, or is not in memory any more.
func delivered(j *journal.Journal, t *journal.Transition) (journal.Delivered, bool) {
	d := j.Delivery(t.Seq)
	if d == nil {
		return journal.Delivered{}, false
	}
	c := d.Counts()
	return c, c.Affected > 0
}

// newDelivery shows how far a transition got, nil if there is no such thing.
func newDelivery(j *journal.Journal, t *journal.Transition) *views.Delivery {
	d, ok := delivered(j, t)
	if !ok {
		return nil
	}
	v := &views.Delivery{
		Affected: d.Affected, Acked: d.Acked, Rejected: d.Rejected, Unchanged: d.Unchanged, Left: d.Left,
		Waiting: d.Waiting(), OnTheirWay: d.Sent, FirstSent: d.FirstSent, Done: d.Done,
	}
	for _, r := range d.Rejections {
		v.Rejections = append(v.Rejections, views.Rejection{Proxy: r.Proxy, Type: typeName(r.Type), Message: r.Message, Time: r.Time})
	}
	return v
}

// moving are the deliveries of the last minute that are under way, or have just
// ended.
func (s *Server) moving(now time.Time) []views.DeliveryRow {
	var rows []views.DeliveryRow
	j := s.core.Journal()
	for _, t := range recent(j, now.Add(-stationSeconds*time.Second)) {
		d := newDelivery(j, t)
		if d == nil || (!d.Done.IsZero() && now.Sub(d.Done) > deliveryFor) {
			continue // a row says already all that there is
		}
		if rows = append(rows, views.DeliveryRow{Seq: t.Seq, Delivery: *d}); len(rows) == deliveryRows {
			break
		}
	}
	return rows
}

// newestDelivery is that of the newest transition which concerned a connected
// proxy.
func newestDelivery(j *journal.Journal) journal.Delivered {
	for seq := j.Last(); ; seq-- {
		t := j.Get(seq)
		if t == nil {
			return journal.Delivered{}
		}
		if d, ok := delivered(j, t); ok {
			return d
		}
	}
}

// typeName is the usual short name of a type of xDS.
func typeName(url string) string {
	name := url[strings.LastIndexByte(url, '.')+1:]
	switch name {
	case "Cluster":
		return "CDS"
	case "ClusterLoadAssignment":
		return "EDS"
	case "Listener":
		return "LDS"
	case "RouteConfiguration":
		return "RDS"
	case "Secret":
		return "SDS"
	default:
		return name
	}
}
