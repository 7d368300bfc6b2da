// The processes of a test run load this before tap. tap finds out with the package async-hook-domain to which test an uncaught error
// belongs. For that, node reports every promise and every resource of the program: about a tenth of the processor time of the tests.
// Here, the innermost test that runs fails. The tests of a process run one after another, so it is the right one.
import { registerHooks } from 'node:module'
import type { Test } from 'tap'

registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'async-hook-domain'
      ? { url: new URL('error-domain.js', import.meta.url).href, shortCircuit: true }
      : next(specifier, context)
})

const { default: root } = await import('tap')
const running: Test[] = [root]

function follow(test: Test): void {
  test.on('subtestStart', subtest => {
    running.push(subtest as Test)
    follow(subtest as Test)
  })
  test.on('subtestEnd', subtest => running.splice(running.indexOf(subtest as Test), 1))
}

function fail(error: unknown, type: 'uncaughtException' | 'unhandledRejection'): void {
  running.at(-1)?.hookDomain.onerror(error, type)
}

follow(root)
process.on('uncaughtException', fail)
process.on('unhandledRejection', error => fail(error, 'unhandledRejection'))
