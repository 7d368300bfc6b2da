// The program of the thread that reads long texts (reading.ts).
import { parentPort } from 'node:worker_threads'
import { type Task, workOn } from './work.js'

parentPort?.on('message', (task: Task) => parentPort?.postMessage(workOn(task)))
