// The program of the thread that judges passwords (strength.ts).
import { parentPort } from 'node:worker_threads'
import { ZxcvbnFactory } from '@zxcvbn-ts/core'
import * as common from '@zxcvbn-ts/language-common'
import * as english from '@zxcvbn-ts/language-en'
import type { Asked, Strength } from './strength.js'

const judge = new ZxcvbnFactory({
  dictionary: { ...common.dictionary, ...english.dictionary },
  graphs: common.adjacencyGraphs,
  translations: english.translations,
  maxLength: 100,
  // The default, 100, takes up to 0.9 s for a password of 100 signs that may all stand for letters; 16 takes 0.12 s.
  l33tMaxSubstitutions: 16
})

parentPort?.on('message', ({ password, personal }: Asked) => {
  const { score, feedback } = judge.check(password, [...personal])
  parentPort?.postMessage({ score, warning: feedback.warning } satisfies Strength)
})
