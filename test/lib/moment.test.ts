import { isShowable, momentOfSeconds, parseMoment } from '../../src/lib/moment.js'
import t from '../helpers/tap.js'

t.test('parses dates and times, but nothing outside of the years 100 to 9999', t => {
  for (const [text, expected] of [
    ['2026-01-02', '2026-01-02T00:00:00.000Z'],
    ['2026-01-02T03:04+01:00', '2026-01-02T02:04:00.000Z'],
    ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ['9999-12-31T23:59:59-12:00', undefined],
    ['0100-01-01', '0100-01-01T00:00:00.000Z'],
    ['0100-01-01T00:00+14:00', undefined],
    ['0099-12-31', undefined],
    ['2026-02-30', undefined],
    ['tomorrow', undefined]
  ] as const) {
    t.equal(parseMoment(text)?.toISOString(), expected, text)
  }
  t.end()
})

t.test('the seconds of a commit are clamped to the range that can be shown', t => {
  for (const [seconds, expected] of [
    [0, '1970-01-01T00:00:00.000Z'],
    [-1, '1970-01-01T00:00:00.000Z'],
    [Number.NEGATIVE_INFINITY, '1970-01-01T00:00:00.000Z'],
    [Number.NaN, '1970-01-01T00:00:00.000Z'],
    [253_402_300_800, '9999-12-31T23:59:59.000Z'],
    [Number.POSITIVE_INFINITY, '9999-12-31T23:59:59.000Z']
  ] as const) {
    t.equal(momentOfSeconds(seconds).toISOString(), expected, String(seconds))
  }
  t.notOk(isShowable(new Date(Number.NaN)))
  t.notOk(isShowable(new Date(253_402_300_800_000)))
  t.end()
})
