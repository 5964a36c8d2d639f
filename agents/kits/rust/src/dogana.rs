//! Connects a bot to the referee: joins, asks the bot for each decision, and sends its answers.
//!
//! A complete bot, for every game: `fn main() { dogana::play(|_| dogana::Answer::Index(0)) }`

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use prost::{Message, Name};
use prost_types::Any;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Status};

use crate::messages::dogana::v1 as pb;
use pb::referee_client::RefereeClient;
use pb::{agent_message, choose, referee_message, rejected};

const PROTOCOL: u32 = 1; // the version of the protocol that this file speaks
const MAX_MESSAGE_BYTES: usize = 8 << 20; // the largest message that is read
const KEEPALIVE: Duration = Duration::from_secs(30);
const KEEPALIVE_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that a remote bot waits before it reconnects after it has lost its connection; then twice as long, and so on.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(600); // the time without a connection after which it gives up
const END_WAIT: Duration = Duration::from_secs(1); // the time allowed for a choice to go on after the end of the match

const START_ME: &str = "this bot must be started by the referee, or given the referee's address:
  dogana play GAME cmd:./bot random      starts it
  DOGANA_ADDRESS=host:port DOGANA_TOKEN=... ./bot      joins a remote seat";

/// The answer of a bot.
pub enum Answer {
    /// The index of an action in the list of legal actions, counted from 0.
    Index(usize),
    /// Actions that are played in a row; see [`Answer::turn`].
    #[allow(dead_code, reason = "a bot may answer by index only")]
    Turn(Any),
}

impl Answer {
    /// Answers with an action, or with several that are played in a row. The first must be legal; each further one is played
    /// while this seat is still to act and the action is legal by then.
    #[allow(dead_code, reason = "a bot may answer by index only")]
    pub fn turn<Action: Message + Name>(actions: &[Action]) -> Answer {
        let mut value = Vec::new();
        for action in actions {
            // An ActionList of the game is its actions, each as field 1.
            prost::encoding::message::encode(1, action, &mut value);
        }
        let type_url = format!("type.googleapis.com/{}List", Action::full_name());
        Answer::Turn(Any { type_url, value })
    }
}

/// One decision of the bot.
pub struct Decision {
    /// The facts that stay the same: the game, the seat, the options, the numbers of the board.
    pub welcome: Arc<pb::Welcome>,
    /// The question: the number of actions, the actions played since the last one, the clock.
    pub message: pb::Decide,
    /// The refusal of the last answer to this same question, if there was one.
    pub rejection: Option<pb::Rejected>,
    deadline: Mutex<Instant>,
    withdrawn: AtomicBool,
    answers: UnboundedSender<pb::AgentMessage>,
}

#[allow(dead_code, reason = "a bot need not look at everything")]
impl Decision {
    /// Reads the part of the state that the seat may know, and the legal actions: the game's `Observation` and `ActionList`.
    pub fn read<Observation: Message + Name + Default, Actions: Message + Name + Default>(&self) -> (Observation, Actions) {
        (read_any(&self.message.observation), read_any(&self.message.actions))
    }

    /// Returns the time left for this decision. It also changes when a sand timer starts.
    pub fn time_left(&self) -> Duration {
        self.deadline.lock().unwrap().saturating_duration_since(Instant::now())
    }

    /// Returns whether an answer is no longer wanted: time was up, others were faster, or the match has ended.
    pub fn withdrawn(&self) -> bool {
        self.withdrawn.load(Ordering::Relaxed)
    }

    fn set_deadline(&self, left_ms: f64) {
        *self.deadline.lock().unwrap() = deadline(left_ms);
    }
}

fn deadline(left_ms: f64) -> Instant {
    Instant::now() + Duration::from_millis(left_ms.clamp(0.0, 1e12) as u64)
}

fn read_any<Part: Message + Name + Default>(any: &Option<Any>) -> Part {
    let any = any.clone().unwrap_or_default();
    any.to_msg().unwrap_or_else(|error| {
        give_up(&format!("the referee sent a message that is not of this game ({error}); make a new kit with a newer dogana"))
    })
}

/// Plays one match to its end, then ends the process: with status 0 after the end of the match, else with status 1 and a line on
/// standard error that says why. Decisions are made in the calling thread, while another one reads the referee's messages.
pub fn play(mut choose: impl FnMut(&Decision) -> Answer) -> ! {
    let address = env::var("DOGANA_ADDRESS").unwrap_or_default();
    let token = env::var("DOGANA_TOKEN").unwrap_or_default();
    if address.is_empty() || token.is_empty() {
        give_up(START_ME);
    }
    let endpoint = endpoint(&address);
    let (asking, decisions) = mpsc::channel();
    thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.unwrap_or_else(|error| give_up(&format!("cannot start: {error}")));
        runtime.block_on(connect(&endpoint, &address, &token, &asking));
        drop(asking);
        thread::sleep(END_WAIT); // the bot may still be thinking
        process::exit(0);
    });
    for decision in decisions {
        if decision.withdrawn() {
            continue;
        }
        let answer = message(choose(&decision), &decision);
        if !decision.withdrawn() {
            let _ = decision.answers.send(answer); // if the stream has ended, the reader knows why
        }
    }
    process::exit(0)
}

fn endpoint(address: &str) -> Endpoint {
    let authority = env::var("DOGANA_CA").unwrap_or_default();
    let scheme = match (address.starts_with("unix:"), authority.is_empty()) {
        (true, _) => "",
        (false, true) => "http://",
        (false, false) => "https://",
    };
    let mut endpoint = Endpoint::from_shared(format!("{scheme}{address}"))
        .unwrap_or_else(|error| give_up(&format!("DOGANA_ADDRESS is {address:?}, which is not an address: {error}")));
    if !address.starts_with("unix:") {
        // a started bot needs no pings, and may be stopped while it has no question
        endpoint = endpoint.http2_keep_alive_interval(KEEPALIVE).keep_alive_timeout(KEEPALIVE_TIMEOUT);
    }
    if authority.is_empty() {
        return endpoint;
    }
    let pem = fs::read(&authority).unwrap_or_else(|error| give_up(&format!("cannot read the certificate {authority}: {error}")));
    let tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
    endpoint.tls_config(tls).unwrap_or_else(|error| give_up(&format!("cannot use the certificate {authority}: {error}")))
}

/// Plays until the match is over; a remote bot reconnects when its connection is lost.
async fn connect(endpoint: &Endpoint, address: &str, token: &str, asking: &mpsc::Sender<Arc<Decision>>) {
    let remote = !address.starts_with("unix:");
    let (mut wait, mut lost) = (FIRST_WAIT, None);
    loop {
        let mut welcomed = false;
        let ended = match endpoint.connect().await {
            Ok(channel) => play_stream(channel, token, asking, &mut welcomed).await,
            Err(error) => Err(Status::unavailable(cause(&error))),
        };
        let Err(status) = ended else { return };
        if welcomed {
            (wait, lost) = (FIRST_WAIT, Some(Instant::now()));
        }
        if !remote || !is_lost(&status) || lost.is_none_or(|since| since.elapsed() > PATIENCE) {
            give_up(&explain(&status, address));
        }
        let pause = wait.mul_f64(0.5 + fastrand::f64() / 2.0); // so that bots do not all reconnect at once
        eprintln!("dogana bot: {}; trying again in {:.1} s", explain(&status, address), pause.as_secs_f64());
        tokio::time::sleep(pause).await;
        wait = LONGEST_WAIT.min(2 * wait);
    }
}

/// Plays on one stream until the match is over; returns an error if the stream ends earlier.
async fn play_stream(
    channel: Channel,
    token: &str,
    asking: &mpsc::Sender<Arc<Decision>>,
    welcomed: &mut bool,
) -> Result<(), Status> {
    let (answers, outgoing) = unbounded_channel();
    let join = pb::Join { token: token.to_string(), protocol: PROTOCOL, labels: false };
    let _ = answers.send(pb::AgentMessage { message: Some(agent_message::Message::Join(join)) }); // its receiver is just below
    let mut client = RefereeClient::new(channel).max_decoding_message_size(MAX_MESSAGE_BYTES);
    let mut stream = client.play(UnboundedReceiverStream::new(outgoing)).await?.into_inner();
    let mut welcome = Arc::new(pb::Welcome::default());
    let mut open: Option<Arc<Decision>> = None;
    let ended = loop {
        let message = match stream.message().await {
            Ok(Some(message)) => message.message,
            Ok(None) => break Err(Status::ok("")),
            Err(status) => break Err(status),
        };
        let ask = |message, rejection, left_ms| {
            let decision = Arc::new(Decision {
                welcome: welcome.clone(),
                message,
                rejection,
                deadline: Mutex::new(deadline(left_ms)),
                withdrawn: AtomicBool::new(false),
                answers: answers.clone(),
            });
            let _ = asking.send(decision.clone()); // the other end lives as long as the process
            decision
        };
        let is_open = |number| open.as_ref().is_some_and(|open| open.message.decision == number);
        match message {
            Some(referee_message::Message::Welcome(message)) => {
                *welcomed = true;
                welcome = Arc::new(message);
            }
            Some(referee_message::Message::Decide(decide)) => {
                let left_ms = decide.clock.unwrap_or_default().budget_ms;
                withdraw(&open);
                open = Some(ask(decide, None, left_ms));
            }
            Some(referee_message::Message::Rejected(rejected)) => {
                report(&rejected);
                let again = is_open(rejected.decision) && rejected.reason() != rejected::Reason::Stale;
                if let Some(refused) = open.as_ref().filter(|refused| again && !refused.withdrawn()) {
                    let (decide, left_ms) = (refused.message.clone(), rejected.left_ms);
                    withdraw(&open);
                    open = Some(ask(decide, Some(rejected), left_ms));
                }
            }
            Some(referee_message::Message::NewDeadline(new)) if is_open(new.decision) => {
                let left_ms = new.clock.unwrap_or_default().budget_ms;
                open.iter().for_each(|open| open.set_deadline(left_ms));
            }
            Some(referee_message::Message::Withdrawn(withdrawn)) if is_open(withdrawn.decision) => withdraw(&open),
            Some(referee_message::Message::GameOver(_)) => break Ok(()),
            _ => {} // a message of a later version
        }
    };
    withdraw(&open);
    ended
}

fn withdraw(open: &Option<Arc<Decision>>) {
    open.iter().for_each(|open| open.withdrawn.store(true, Ordering::Relaxed));
}

/// Makes the message of an answer.
fn message(answer: Answer, decision: &Decision) -> pb::AgentMessage {
    let choice = match answer {
        Answer::Index(index) => {
            let count = decision.message.action_count as usize;
            if index >= count {
                give_up(&format!("choose answered index {index}; an index counts from 0 to {}", count - 1));
            }
            choose::Choice::Index(index as u32)
        }
        Answer::Turn(list) => {
            let wanted = decision.message.actions.as_ref().map_or("", |actions| &actions.type_url);
            if list.type_url != wanted {
                give_up(&format!("choose answered with a {}; it must be a {wanted}", list.type_url));
            }
            choose::Choice::Actions(list)
        }
    };
    let choose = pb::Choose { decision: decision.message.decision, choice: Some(choice), ..Default::default() };
    pb::AgentMessage { message: Some(agent_message::Message::Choose(choose)) }
}

/// Reports a refused answer to the author of the bot.
fn report(rejected: &pb::Rejected) {
    let rule = if rejected.rule.is_empty() { String::new() } else { format!(" ({})", rejected.rule) };
    let reason = rejected.reason().as_str_name().trim_start_matches("REASON_").to_lowercase();
    let pb::Rejected { decision, message, strikes, .. } = rejected;
    eprintln!("dogana bot: decision {decision} refused as {reason}: {message}{rule}; strike {strikes}");
}

/// Returns whether a stream ended because the connection was lost, and not because the referee ended it.
fn is_lost(status: &Status) -> bool {
    matches!(status.code(), Code::Unavailable | Code::Cancelled | Code::Unknown | Code::Internal)
}

/// Explains the end of a stream.
fn explain(status: &Status, address: &str) -> String {
    let message = status.message();
    match status.code() {
        Code::Ok => "the referee ended the stream before the match was over".to_string(),
        _ if is_lost(status) => format!("no referee answers at {address} ({message}); is it running, and the address right?"),
        code => {
            let hint = match code {
                Code::FailedPrecondition => "; make a new kit with a newer dogana".to_string(),
                Code::Unimplemented => format!("; is it a referee that listens at {address}?"),
                _ => String::new(),
            };
            format!("the referee refused ({}): {message}{hint}", name(code))
        }
    }
}

/// Returns the name of a status, such as FAILED_PRECONDITION.
fn name(code: Code) -> String {
    let mut name = String::new();
    for letter in format!("{code:?}").chars() {
        if letter.is_uppercase() && !name.is_empty() {
            name.push('_');
        }
        name.push(letter.to_ascii_uppercase());
    }
    name
}

/// Returns the first cause of an error: tonic's own text says only that there was an error.
fn cause(error: &dyn std::error::Error) -> String {
    error.source().map_or_else(|| error.to_string(), cause)
}

fn give_up(reason: &str) -> ! {
    eprintln!("dogana bot: {reason}");
    process::exit(1)
}
