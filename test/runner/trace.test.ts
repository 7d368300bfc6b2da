import { setTimeout as delay } from 'node:timers/promises'
import { Masker } from '../../src/runner/mask.js'
import { Trace } from '../../src/runner/trace.js'
import t from '../helpers/tap.js'

/** Returns a generator of numbers below n, which are the same in every run. */
function numbers(seed: number) {
  let state = seed
  return (n: number) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * n)
  }
}

/** Returns the text with every byte masked that belongs to a secret. It works on the whole text at once. */
function maskWhole(text: string, secrets: string[]): string {
  const hidden = new Set<number>()
  for (const secret of secrets) {
    for (let at = text.indexOf(secret); at >= 0; at = text.indexOf(secret, at + 1)) {
      for (let i = 0; i < secret.length; i++) hidden.add(at + i)
    }
  }
  return [...text].map((character, at) => (hidden.has(at) ? '*' : character)).join('')
}

/** Returns the text as it is masked in pieces of any size. */
function inPieces(masker: Masker, text: string, below: (n: number) => number): string {
  let shown = ''
  for (let at = 0; at < text.length; ) {
    const size = 1 + below(12)
    shown += masker.mask(Buffer.from(text.slice(at, at + size))).toString()
    at += size
  }
  return shown + masker.release().toString()
}

t.test('secrets are hidden wherever the text is split', async t => {
  const below = numbers(7)
  const word = (least: number, most: number) =>
    Array.from({ length: least + below(most - least) }, () => 'ab'[below(2)]).join('')
  for (let round = 0; round < 3000; round++) {
    const secrets = Array.from({ length: 1 + below(3) }, () => word(4, 9))
    const text = word(0, 60)
    const shown = inPieces(new Masker(secrets), text, below)
    if (shown !== maskWhole(text, secrets))
      return t.equal(shown, maskWhole(text, secrets), JSON.stringify({ text, secrets }))
  }
  t.pass()
})

t.test('a token of which only the beginning is known is hidden wherever the text is split', async t => {
  const below = numbers(3)
  const text = 'say eyJhead.body-1_x.sign, eyJhead.\neyJhea eyJhead.z!eyJhead.end'
  const whole = text.replace(/eyJhead\.[\w.-]*/g, found => '*'.repeat(found.length))
  for (let round = 0; round < 1000; round++) {
    const shown = inPieces(new Masker(['body'], ['eyJhead.']), text, below)
    if (shown !== whole) return t.equal(shown, whole)
  }
  t.pass()
})

t.test('the start of a secret is kept back; after its release the rest of the secret is hidden', async t => {
  const masker = new Masker(['password'])
  t.equal(masker.mask(Buffer.from('the pass')).toString(), 'the ')
  t.equal(masker.release().toString(), 'pass')
  t.equal(masker.release().toString(), '')
  t.equal(masker.mask(Buffer.from('word is')).toString(), '**** is')
})

t.test('a secret is hidden line by line, and values shorter than four bytes are not hidden', async t => {
  const masker = new Masker(['first line\r\nsecond\nx', '', 'abc'])
  t.equal(masker.mask(Buffer.from('first line second x abc')).toString(), '********** ****** x abc')
})

function collect(options: { secrets?: string[]; limit?: number; write?: (chunk: Buffer) => Promise<void> } = {}) {
  const chunks: string[] = []
  const events: string[] = []
  const trace = new Trace({
    secrets: options.secrets ?? [],
    limit: options.limit ?? 1_000_000,
    write: async chunk => {
      await options.write?.(chunk)
      chunks.push(chunk.toString())
    },
    onLimit: () => events.push('limit'),
    onFailure: error => events.push(String(error))
  })
  return { trace, chunks, events, text: () => chunks.join('') }
}

t.test('the first write goes out at once, the next ones in batches and in order', async t => {
  const { trace, chunks, text } = collect({ write: () => delay(1) })
  trace.line('first')
  for (let n = 0; n < 500; n++) await trace.output(Buffer.from(`${n}\n`))
  await trace.close()
  t.equal(chunks[0], 'first\n')
  t.equal(text(), `first\n${Array.from({ length: 500 }, (_, n) => `${n}\n`).join('')}`)
  t.ok(chunks.length < 50, `${chunks.length} writes`)
})

t.test('a slow reader slows the script: writes do not overlap, and little is kept in memory', async t => {
  let running = 0
  let most = 0
  let largest = 0
  const { trace, text } = collect({
    write: async chunk => {
      most = Math.max(most, ++running)
      largest = Math.max(largest, chunk.length)
      await delay(2)
      running--
    }
  })
  for (let n = 0; n < 30; n++) await trace.output(Buffer.alloc(30_000, 'x'))
  await trace.close()
  t.equal(most, 1)
  t.ok(largest <= 65_536 + 30_000, `${largest} bytes at once`)
  t.equal(text().length, 900_000)
})

t.test('a secret that is printed in two halves is hidden, however long the pause is', async t => {
  const { trace, text } = collect({ secrets: ['password'] })
  await trace.output(Buffer.from('my pass'))
  await delay(150)
  t.equal(text(), 'my ')
  await trace.output(Buffer.from('word\npas'))
  await trace.close()
  t.equal(text(), 'my ********\npas', 'the end is shown because it is not a secret')
})

t.test('above the limit there is one notice, and no half of a secret', async t => {
  const { trace, events, text } = collect({ secrets: ['password'], limit: 10 })
  await trace.output(Buffer.from('so: password\n'))
  await trace.output(Buffer.from('more'))
  trace.line('done')
  await trace.close()
  t.equal(
    text(),
    'so: ******\nERROR: the output is longer than 10 bytes (runner.output_limit); the build stops\ndone\n'
  )
  t.strictSame(events, ['limit'])
})

t.test('a failed write is reported once, and the rest is dropped', async t => {
  const { trace, events } = collect({ write: () => Promise.reject(new Error('gone')) })
  trace.line('one')
  await trace.output(Buffer.alloc(200_000))
  trace.line('two')
  await trace.close()
  t.strictSame(events, ['Error: gone'])
})
