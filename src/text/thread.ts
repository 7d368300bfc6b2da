// The program of the thread that reads long texts (text-thread.ts).
import { parentPort } from 'node:worker_threads'
import { allowHighlighting } from './highlight.js'
import { type Task, workOn } from './work.js'

allowHighlighting()
parentPort?.on('message', (task: Task) => parentPort?.postMessage(workOn(task)))
