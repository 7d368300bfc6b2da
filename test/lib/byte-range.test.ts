import { byteRange } from '../../src/lib/byte-range.js'
import t from '../helpers/tap.js'

t.test('the header Range selects a part of a file, selects nothing, or is ignored', async t => {
  const cases: [header: string | undefined, size: number, expected: unknown][] = [
    ['bytes=0-', 10, { start: 0, end: 9 }],
    ['bytes=3-5', 10, { start: 3, end: 5 }],
    ['bytes=3-99', 10, { start: 3, end: 9 }],
    ['bytes=-4', 10, { start: 6, end: 9 }],
    ['bytes=-99', 10, { start: 0, end: 9 }],
    ['bytes=10-', 10, null],
    ['bytes=-0', 10, null],
    ['bytes=0-', 0, null],
    ['bytes=5-3', 10, undefined],
    ['bytes=1-2,4-5', 10, undefined],
    ['bytes=-', 10, undefined],
    ['bytes = 1 - 2', 10, undefined],
    ['lines=1-2', 10, undefined],
    ['bytes=9999999999999999-', 10, null],
    ['bytes=1-2,99-', 10, { start: 1, end: 2 }],
    [undefined, 10, undefined]
  ]
  for (const [header, size, expected] of cases) t.same(byteRange(header, size), expected, `${header} of ${size}`)
})
