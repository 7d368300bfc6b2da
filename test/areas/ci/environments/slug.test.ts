import { slugOf } from '../../../../src/areas/ci/environments/slug.js'
import t from '../../../helpers/tap.js'

const CASES: readonly (readonly [name: string, slug: RegExp])[] = [
  ['staging', /^staging$/],
  ['a-b-c', /^a-b-c$/],
  ['Staging', /^staging-[a-z0-9]{6}$/],
  ['review/fix bug', /^review-fix-bug-[a-z0-9]{6}$/],
  ['1-2', /^env-1-2-[a-z0-9]{6}$/],
  ['/', /^-[a-z0-9]{6}$/],
  ['a--b', /^a--b$/],
  ['a / b', /^a---b-[a-z0-9]{6}$/],
  ['-a', /^-a$/],
  ['trailing-', /^trailing-[a-z0-9]{6}$/],
  ['abcdefghijklmnopqrstuvwxyz', /^abcdefghijklmnopq-[a-z0-9]{6}$/],
  ['abcdefghijklmnopqrstuvwx', /^abcdefghijklmnopqrstuvwx$/],
  ['abcdefghijklmnop-qrstuvwxyz', /^abcdefghijklmnop--[a-z0-9]{6}$/]
]
for (const [name, slug] of CASES) {
  t.test(`the slug of ${JSON.stringify(name)}`, async t => {
    const made = slugOf(name)
    t.match(made, slug)
    t.ok(made.length <= 24)
  })
}
